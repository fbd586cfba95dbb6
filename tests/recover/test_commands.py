"""Commands are those of the job's scheduler, and nothing from a log can bend them."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.model import Job
from app.recover.commands import commands, is_node

SLURM = Job(job_id="4711", scheduler="slurm")
HOSTILE = [
    ";rm -rf /", "$(reboot)", "`reboot`", "a b", "a\nb", "a'b", 'a"b', "--all", "-lapp=x", "ALL",
    "all", "default", "node[1-999]",
    "a,b", "localhost", "localhost.localdomain", "127.0.0.1", "0.0.0.0",
    "none", "null", "", "host:29500", "[::1]", "a/b", "x" * 300, "näss", "a-", ".a",
]  # fmt: skip


@pytest.mark.parametrize("name", ["gpu-a17", "n1", "gpu-a17.cluster.local", "10.2.3.4", "rack_3"])
def test_a_node_is_known_by_its_name(name: str) -> None:
    assert is_node(name)


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_name_of_one_node_gets_into_no_command(name: str) -> None:
    assert not is_node(name)
    plain = commands("cordon_and_restart", [], "ECCError", SLURM)
    assert commands("cordon_and_restart", [name], "ECCError", SLURM) == plain


def test_slurm_drains_the_nodes_and_lets_the_job_start_without_them() -> None:
    assert commands("cordon_and_restart", ["gpu-1", "gpu-2"], "ECCError xid_48", SLURM) == (
        "scontrol update nodename=gpu-1 state=drain reason='firstfault: ECCError xid_48'",
        "scontrol update nodename=gpu-2 state=drain reason='firstfault: ECCError xid_48'",
        "scontrol requeuehold 4711",
        "scontrol update jobid=4711 excnodelist=gpu-1,gpu-2",
        "scontrol release 4711",
    )


@pytest.mark.parametrize("action", ["restart", "wait_and_retry", "resubmit"])
def test_slurm_requeues_what_may_run_again(action: str) -> None:
    assert commands(action, [], "why", SLURM) == ("scontrol requeue 4711",)


@pytest.mark.parametrize(
    "action", ["fix_code", "fix_config", "fix_data", "rollback_and_skip", "none"]
)
def test_what_a_person_must_mend_first_is_not_requeued(action: str) -> None:
    assert commands(action, [], "why", SLURM) == ()


def test_a_job_without_a_number_is_not_requeued() -> None:
    assert commands("restart", [], "why", Job(scheduler="slurm")) == ()
    assert commands("restart", [], "why", Job(scheduler="slurm", job_id="-h")) == ()


@pytest.mark.parametrize("scheduler", ["kubernetes", "Kubernetes", "k8s"])
def test_kubernetes_cordons(scheduler: str) -> None:
    job = Job(job_id="4711", scheduler=scheduler)
    found = commands("cordon_and_restart", ["gpu-1"], "why", job)
    assert found == ("kubectl cordon gpu-1",)


def test_both_are_shown_where_the_scheduler_is_not_known_and_neither_for_a_third() -> None:
    found = commands("cordon_and_restart", ["gpu-1"], "why", Job())
    assert [command.split()[0] for command in found] == ["scontrol", "kubectl"]
    assert commands("cordon_and_restart", ["gpu-1"], "why", Job(scheduler="lsf")) == ()


text = st.text(max_size=30)


@settings(deadline=None)
@given(st.lists(text, max_size=3), text, text)
def test_every_word_of_a_command_stays_one_word(
    targets: list[str], reason: str, job_id: str
) -> None:
    for command in commands("cordon_and_restart", targets, reason, Job(job_id=job_id)):
        words = shlex.split(command)
        assert words[0] in ("scontrol", "kubectl")
        assert len(words) in (3, 4, 5)
        assert not any(word.startswith("-") for word in words[1:])
