"""What to do: as the rules say, softened where the grounds are weak."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from app.located import Suspect
from app.model import Confidence, Finding, Job, Plan, Primary, Root, Strength, Verdict
from app.recover.course import Course, repeated
from app.recover.plan import plan
from tests.small_rules import a_cause, a_finding, a_line, a_rulebook, a_signal

BOOK = a_rulebook(
    [
        a_cause(
            "ECCError",
            action="cordon_and_restart",
            steps=["Drain {host}.", "Ask for {part}.", "Type `kubectl cordon {host}`."],
        ),
        a_cause("CUDAError", action="restart"),
        a_cause("NetworkError", action="restart"),
        a_cause("StorageError", action="restart"),
        a_cause("NCCLTimeoutError", action="restart"),
        a_cause("KeyError", action="fix_code"),
        a_cause("LossSpike", action="rollback_and_skip"),
        a_cause("NonFiniteLoss", action="rollback_and_skip"),
        a_cause("ConnectionError", action="wait_and_retry"),
        a_cause("Preempted", action="resubmit"),
        a_cause("TimeLimitExceeded", action="resubmit"),
    ],
    [
        a_signal("wrong_argument", "CUDAError", action="fix_code", steps=["Mend {frame}."]),
        a_signal("lost_device", "KeyError", action="restart"),
        a_signal("blames", "ECCError", suspect="peer"),
    ],
)


def verdict(
    cause: str,
    *suspects: Suspect,
    confidence: Confidence = "high",
    roots: Mapping[str, Strength] | None = None,
) -> Verdict:
    others = tuple(
        Root(name, name.lower(), strength, 1, "log", 1) for name, strength in (roots or {}).items()
    )
    primary = Primary(cause, "plant", None, None, confidence, "f", "s", None)
    return Verdict(primary, other_roots=others, suspects=suspects)


def planned(
    root: Finding,
    *suspects: Suspect,
    job: Job | None = None,
    steps_made: int = 9,
    repeated_on: tuple[str, ...] = (),
    **told: object,
) -> Plan:
    said = verdict(root.cause, *suspects, **told)
    went = Course(steps_made=steps_made, repeated_on=repeated_on)
    return plan(said, root, BOOK, job or Job(), went)


def on(host: str, cause: str = "ECCError", **more: object) -> Finding:
    return a_finding(cause, a_line(3, host=host), **more)


def test_the_rules_say_what_to_do_and_the_steps_are_filled() -> None:
    done = planned(on("gpu-1"), Suspect("gpu-1"))
    assert (done.action, done.restart, done.targets) == ("cordon_and_restart", True, ("gpu-1",))
    assert done.steps == ("Drain gpu-1.", "Ask for <part>.", "Type `kubectl cordon gpu-1`.")


def test_a_signal_may_know_better_than_its_cause() -> None:
    root = a_finding("CUDAError", signal="wrong_argument", facts={"frame": "a.py:3"})
    done = planned(root)
    assert (done.action, done.restart, done.steps) == ("fix_code", False, ("Mend a.py:3.",))


@pytest.mark.parametrize("strength", ["clue", "echo"])
def test_nothing_is_taken_out_without_proof(strength: Strength) -> None:
    done = planned(on("gpu-1", strength=strength), Suspect("gpu-1"))
    assert (done.action, done.targets) == ("restart", ())
    assert not any("drain" in command or "cordon" in command for command in done.commands)


def test_steps_take_out_no_node_that_the_plan_keeps() -> None:
    node, typed = Suspect("gpu-1"), "Type `kubectl cordon gpu-1`."
    assert typed in planned(on("gpu-1"), node).steps
    kept = planned(on("gpu-1"), node, roots={"KeyError": "proof"})
    assert (kept.action, kept.targets) == ("restart", ())
    assert typed not in kept.steps
    assert "Ask for <part>." in kept.steps


def test_a_second_node_is_taken_out_only_if_a_proof_of_the_root_names_it() -> None:
    both = a_finding("ECCError", a_line(3, host="gpu-1"), a_line(4, rank=12))
    seconds = [Suspect("gpu-2", 12), Suspect("gpu-2", 13), Suspect("gpu-2")]
    targets = [planned(both, Suspect("gpu-1"), second).targets for second in seconds]
    assert targets == [("gpu-1", "gpu-2"), ("gpu-1",), ("gpu-1",)]


def test_who_prints_what_blames_another_node_stays() -> None:
    blamed, own = Suspect("gpu-2"), Suspect("gpu-1", why="the first process that failed")
    root = a_finding("ECCError", a_line(3, host="gpu-1"), facts={"peer_host": "gpu-2"})
    assert planned(root, blamed, own).targets == ("gpu-2", "gpu-1")
    root = replace(root, signal="blames")
    assert planned(root, blamed, own).targets == ("gpu-2",)


def test_a_node_named_by_a_warning_of_the_root_stays() -> None:
    proof, warning = on("gpu-1"), on("gpu-2", strength="clue")
    mixed = Finding("ECCError", "e", "proof", proof.sightings + warning.sightings, 2)
    assert planned(mixed, Suspect("gpu-1"), Suspect("gpu-2")).targets == ("gpu-1",)


def test_no_more_than_two_nodes_are_taken_out() -> None:
    hosts = ["gpu-1", "gpu-2", "gpu-3"]
    root = a_finding("ECCError", *(a_line(n, host=host) for n, host in enumerate(hosts)))
    assert planned(root, *map(Suspect, hosts)).targets == ("gpu-1", "gpu-2")


@pytest.mark.parametrize("host", [";rm -rf /", "ALL", "--all", "localhost", "a,b"])
def test_what_cannot_be_a_node_is_no_target_and_stands_in_no_command(host: str) -> None:
    done = planned(on(host), Suspect(host), job=Job(job_id="7"))
    assert done.targets == ()
    assert done.commands == ("scontrol requeue 7",)


@pytest.mark.parametrize(
    ("nodes", "targets"),
    [
        ((), ("gpu-1.cluster",)),
        (("gpu-1", "gpu-2"), ("gpu-1",)),
        (("gpu-1.cluster",), ("gpu-1.cluster",)),
        (("gpu-2", "gpu-3"), ()),
        (("gpu-[1-8]",), ("gpu-1.cluster",)),
    ],
)
def test_only_nodes_of_the_job_are_taken_out_by_the_schedulers_name(
    nodes: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    done = planned(on("gpu-1.cluster"), Suspect("gpu-1.cluster"), job=Job(nodes=nodes))
    assert done.targets == targets


def test_a_fact_from_the_log_cannot_bend_a_command_within_a_step() -> None:
    step = "Run `scontrol update nodename={host} reason={why}` where {host} says {why}."
    book = a_rulebook([a_cause("ECCError", steps=[step])])
    for host, why in ((";reboot", "$(x)"), ("ALL", "-x"), ("a b", "a`b"), ("--all", "x\ny")):
        root = a_finding("ECCError", facts={"host": host, "why": why})
        (done,) = plan(verdict("ECCError"), root, book, Job()).steps
        assert "`scontrol update nodename=<host> reason=<why>`" in done
        assert "\n" not in done
    root = a_finding("ECCError", facts={"host": "gpu-1", "why": "0000:3b:00"})
    (done,) = plan(verdict("ECCError"), root, book, Job()).steps
    assert done == (
        "Run `scontrol update nodename=gpu-1 reason=0000:3b:00` where gpu-1 says 0000:3b:00."
    )


def test_a_fact_that_holds_a_slot_is_not_filled_again() -> None:
    book = a_rulebook([a_cause("ECCError", steps=["See {a}."])])
    root = a_finding("ECCError", facts={"a": "{b}", "b": "x"})
    assert plan(verdict("ECCError"), root, book, Job()).steps == ("See {b}.",)


@pytest.mark.parametrize(
    ("cause", "restart"),
    [
        ("ECCError", False),  # no host is told that could be taken out
        ("CUDAError", True),
        ("StorageError", True),
        ("ConnectionError", True),
        ("LossSpike", True),
        ("Preempted", True),
        ("TimeLimitExceeded", False),
        ("KeyError", False),
        ("NCCLTimeoutError", False),
    ],
)
def test_what_may_start_again_by_itself(cause: str, restart: bool) -> None:
    assert planned(a_finding(cause)).restart is restart


def test_a_job_whose_bad_host_is_not_told_waits_for_a_person() -> None:
    assert planned(on("n7"), Suspect("n7")).restart
    unknown = planned(a_finding("ECCError"))
    assert (unknown.action, unknown.targets, unknown.restart) == ("cordon_and_restart", (), False)
    assert "does not name the host" in unknown.steps[0]


@pytest.mark.parametrize("cause", ["CUDAError", "Preempted", "LossSpike"])
def test_nothing_restarts_beside_a_proof_that_something_must_be_mended(cause: str) -> None:
    assert not planned(a_finding(cause), roots={"KeyError": "proof"}).restart
    assert planned(a_finding(cause), roots={"KeyError": "clue"}).restart
    assert planned(a_finding(cause), roots={"StorageError": "proof"}).restart


def test_the_signal_of_another_root_decides_whether_it_must_be_mended() -> None:
    said = verdict("StorageError")
    for signal, cause, restart in (
        ("wrong_argument", "CUDAError", False),
        ("lost_device", "KeyError", True),
    ):
        other = Root(cause, signal, "proof", 1, "log", 1)
        beside = Verdict(said.primary, other_roots=(other,))
        done = plan(beside, a_finding("StorageError"), BOOK, Job(), Course(steps_made=9))
        assert done.restart is restart


def test_nothing_restarts_on_low_confidence() -> None:
    assert not planned(a_finding("CUDAError"), confidence="low").restart
    assert planned(a_finding("CUDAError"), confidence="medium").restart


def test_hardware_that_failed_before_is_taken_out() -> None:
    done = planned(
        on("gpu-1", "CUDAError"), Suspect("gpu-1"), Suspect("gpu-2"), repeated_on=("gpu-1",)
    )
    assert (done.action, done.targets) == ("cordon_and_restart", ("gpu-1",))
    assert "gpu-1 failed before" in done.steps[0]


def test_of_two_suspects_only_the_one_that_failed_before_is_taken_out() -> None:
    root = a_finding("CUDAError", a_line(3, host="gpu-1"), a_line(4, host="gpu-2"))
    done = planned(root, Suspect("gpu-1"), Suspect("gpu-2"), repeated_on=("gpu-2",))
    assert done.targets == ("gpu-2",)


@pytest.mark.parametrize(
    ("cause", "strength"), [("StorageError", "proof"), ("KeyError", "proof"), ("CUDAError", "clue")]
)
def test_what_is_no_hardware_or_not_proven_takes_nothing_out_however_often(
    cause: str, strength: Strength
) -> None:
    root = on("gpu-1", cause, strength=strength)
    done = planned(root, Suspect("gpu-1"), repeated_on=("gpu-1",))
    assert done.action != "cordon_and_restart"
    assert done.targets == ()


def test_a_gpu_that_failed_for_several_processes_is_taken_out() -> None:
    lines = [a_line(3, host="gpu-1"), a_line(9, host="gpu-1")]
    twice = [a_finding("CUDAError", line, facts={"gpu": gpu, "pid": str(line.number)})
             for line, gpu in zip(lines, ("0000:3b:00", "0000:3b:00.0"), strict=True)]  # fmt: skip
    root = Finding("CUDAError", "x", "proof", twice[0].sightings + twice[1].sightings, 2)
    done = planned(root, Suspect("gpu-1"))
    assert (done.action, done.targets) == ("cordon_and_restart", ("gpu-1",))
    assert planned(twice[0], Suspect("gpu-1")).action == "restart"


def test_a_network_that_never_worked_is_a_matter_of_its_settings() -> None:
    for strength in ("proof", "clue"):
        root = on("gpu-1", "NetworkError", strength=strength)
        done = planned(root, Suspect("gpu-1"), steps_made=0, repeated_on=("gpu-1",))
        assert (done.action, done.restart, done.targets) == ("fix_config", False, ())
    assert planned(on("gpu-1", "NetworkError")).action == "restart"


def test_an_outcome_asks_for_nothing() -> None:
    for outcome in ("Completed", "Unknown"):
        done = plan(verdict(outcome), None, BOOK, Job(job_id="7"))
        assert (done.action, done.restart, done.targets, done.commands) == ("none", False, (), ())
        assert done.steps


def test_who_does_not_know_looks_at_the_kernel_where_a_process_died() -> None:
    for host, where in (
        ("gpu-1", "on gpu-1"),
        (None, "on each node"),
        ("$(reboot)", "on each node"),
    ):
        done = plan(verdict("Unknown", Suspect(host)), None, BOOK, Job())
        (step,) = (step for step in done.steps if "dmesg" in step)
        assert where in step


def test_hosts_and_gpus_are_repeated_where_hardware_failed_on_them_before() -> None:
    now = verdict("CUDAError", Suspect("gpu-1"), Suspect(gpu="0000:3b:00"), Suspect("gpu-3"))
    before = [
        verdict("ECCError", Suspect("gpu-1"), Suspect(gpu="0000:3b:00"), Suspect("gpu-3")),
        verdict("KeyError", Suspect("gpu-9")),
    ]
    assert repeated(now, before) == ["gpu-1", "GPU 0000:3b:00"]
    assert repeated(now, before[1:]) == []
    assert repeated(verdict("KeyError", Suspect("gpu-9")), before[1:]) == []
    assert (
        repeated(verdict("CUDAError", Suspect(gpu="3")), [verdict("ECCError", Suspect(gpu="3"))])
        == []
    )


@pytest.mark.parametrize(
    ("frame", "action"),
    [
        ("/opt/lib/trainer/arguments.py:561:validate", "fix_config"),
        ("/srv/run/train_config.py:12:load", "fix_config"),
        ("/srv/run/model.py:30:__post_init__", "fix_config"),
        ("/opt/site-packages/omegaconf/base.py:9:get", "fix_config"),
        ("/srv/run/model.py:30:forward", "fix_code"),
        ("/srv/run/configured_model.py:30:forward", "fix_code"),
    ],
)
def test_what_is_raised_over_settings_is_mended_there(frame: str, action: str) -> None:
    assert planned(a_finding("KeyError", facts={"frame": frame})).action == action
