"""One verdict: completed, unknown or a cause, how sure we are, and the lines that show it."""

from dataclasses import replace

import pytest

from app.judge.verdict import fingerprint, judge
from app.located import Located
from app.model import (
    Detected,
    EndGrade,
    Ending,
    Finding,
    Job,
    Line,
    LogFile,
    Marked,
    Sighting,
    Strength,
    Verdict,
)
from tests.small_rules import a_cause, a_finding, a_line, a_rulebook, a_signal

BOOK = a_rulebook(
    [
        a_cause("KeyError", "script", if_earlier=["NCCLTimeoutError"]),
        a_cause("ECCError", "infrastructure", always=["NCCLTimeoutError"]),
        a_cause("NCCLTimeoutError", "infrastructure"),
        a_cause("LossSpike", "training"),
        a_cause("Stalled", "training"),
        a_cause("Preempted", "scheduler"),
    ],
    [
        a_signal("keyerror", "KeyError"),
        a_signal("eccerror", "ECCError"),
        a_signal("killed", "Unknown"),
    ],
)
FILES = (LogFile("rank0.log", 9, 99, 99), LogFile("rank1.log", 9, 99, 99))


def shown(
    *findings: Finding,
    finished: EndGrade | None = None,
    at: Line | None = None,
    failed: bool = False,
    job: Job | None = None,
    **more: object,
) -> Verdict:
    line = (at or a_line(50, text="training is done")) if finished else None
    ending = Ending(finished, line, a_line(60) if failed else None)
    verdict, root = judge(Detected(findings, ending, Located(), **more), BOOK, FILES, job or Job())
    assert (root is None) is (verdict.primary.domain == "outcome")
    return verdict


def cause(*findings: Finding, **told: object) -> str:
    return shown(*findings, **told).primary.cause


def found(
    name: str, line: Line | int = 10, strength: Strength = "proof", **more: object
) -> Finding:
    place = line if isinstance(line, Line) else a_line(line)
    return a_finding(name, place, strength=strength, **more)


KILL = found("Unknown", strength="clue", signal="killed")


def test_the_root_is_the_primary_and_the_explained_say_by_whom() -> None:
    waits = a_finding("NCCLTimeoutError", a_line(7, file=1), a_line(8, file=1))
    verdict = shown(found("ECCError", 20), waits)
    assert (verdict.primary.cause, verdict.primary.domain) == ("ECCError", "infrastructure")
    assert (verdict.primary.signal, verdict.primary.strength) == ("eccerror", "proof")
    assert verdict.primary.summary == "ECCError came about: saw eccerror"
    (explained,) = verdict.explained
    assert (explained.cause, explained.by, explained.edge) == (
        "NCCLTimeoutError", "ECCError", "always",
    )  # fmt: skip
    assert (explained.count, explained.file, explained.first_line) == (2, "rank1.log", 7)
    assert verdict.other_roots == ()


def test_first_seen_is_where_the_root_shows_first() -> None:
    line = a_line(20, file=1, time=1_767_225_600.25, rank=3, host="gpu-a")
    seen = shown(found("ECCError", line)).primary.first_seen
    assert seen is not None
    assert (seen.file, seen.line, seen.rank, seen.host) == ("rank1.log", 20, 3, "gpu-a")
    assert seen.time == "2026-01-01T00:00:00.250+00:00"
    assert shown(found("ECCError", 20)).primary.first_seen == type(seen)("rank0.log", 20)


def test_other_roots_of_other_causes_are_told() -> None:
    same = found("ECCError", 30, signal="ecc_again")
    verdict = shown(found("ECCError", 20), same, found("LossSpike", 40, "clue"))
    assert [root.cause for root in verdict.other_roots] == ["LossSpike"]
    assert (verdict.other_roots[0].file, verdict.other_roots[0].first_line) == ("rank0.log", 40)


@pytest.mark.parametrize(
    ("findings", "confidence"),
    [
        ([found("ECCError")], "high"),
        ([found("ECCError"), found("ECCError", 30, signal="ecc_again")], "high"),
        ([found("ECCError"), found("NCCLTimeoutError")], "high"),
        ([found("ECCError"), found("LossSpike", strength="echo")], "high"),
        ([found("ECCError"), found("LossSpike", strength="clue")], "medium"),
        ([found("ECCError"), found("KeyError", 30)], "medium"),
        ([found("ECCError", strength="clue")], "medium"),
        ([found("ECCError", strength="clue"), found("KeyError", strength="clue")], "low"),
        ([found("ECCError", strength="echo")], "low"),
    ],
)
def test_confidence_is_a_word_for_the_grounds(findings: list[Finding], confidence: str) -> None:
    assert shown(*findings).primary.confidence == confidence


@pytest.mark.parametrize("cause", ["NCCLTimeoutError", "Stalled"])
def test_what_is_named_for_want_of_better_is_not_sure(cause: str) -> None:
    assert shown(found(cause)).primary.confidence == "medium"


def test_an_exception_in_nobodys_words_is_not_sure() -> None:
    assert shown(replace(found("KeyError"), general=True)).primary.confidence == "medium"


def test_plain_words_of_another_fault_are_a_doubt_and_no_rival() -> None:
    words = replace(found("ECCError", 20, "echo"), general=True)
    verdict = shown(found("KeyError"), words)
    assert (verdict.primary.cause, verdict.primary.confidence) == ("KeyError", "medium")
    assert verdict.other_roots == ()


def test_a_log_that_shows_nothing_is_unknown() -> None:
    verdict = shown()
    assert (verdict.primary.cause, verdict.primary.domain) == ("Unknown", "outcome")
    assert (verdict.primary.confidence, verdict.primary.first_seen) == ("low", None)


def test_a_bare_kill_is_unknown_with_a_remark_and_its_line() -> None:
    exits = (Marked("ended", "exit", a_line(11, text="task 3 killed")),)
    verdict = shown(KILL, exits=exits)
    assert verdict.primary.cause == "Unknown"
    assert verdict.remarks == ("saw killed",)
    assert [evidence.line for evidence in verdict.evidence] == [10, 11]


def test_a_kill_beside_a_cause_is_told_by_strength() -> None:
    assert cause(KILL, found("ECCError", 20)) == "ECCError"
    assert cause(KILL, found("ECCError", 20, "echo")) == "Unknown"
    assert cause(found("Unknown", strength="echo", signal="killed"), found("ECCError", 20, "echo"))


def test_the_trainers_word_stands_against_what_is_torn_down_after_it() -> None:
    assert cause(finished="trainer") == "Completed"
    assert cause(found("NCCLTimeoutError", 70), finished="trainer") == "Completed"
    assert cause(found("ECCError", 20, "clue"), finished="trainer") == "Completed"
    assert cause(found("ECCError", 20, "echo"), finished="trainer") == "Completed"


def test_what_was_proven_before_the_trainers_word_beats_it() -> None:
    assert cause(found("ECCError", 20), finished="trainer") == "ECCError"
    assert cause(found("NCCLTimeoutError", 20), finished="trainer") == "NCCLTimeoutError"


def test_an_error_of_the_program_beats_the_trainers_word_wherever_it_stands() -> None:
    assert cause(found("KeyError", 20), finished="trainer") == "KeyError"
    assert cause(found("KeyError", 70), finished="trainer") == "KeyError"
    assert cause(found("KeyError", 70, "clue"), finished="trainer") == "Completed"


@pytest.mark.parametrize(("time", "expected"), [(5.0, "ECCError"), (500.0, "Completed")])
def test_across_files_the_clock_says_what_came_before_the_trainers_word(
    time: float, expected: str
) -> None:
    end = a_line(50, time=100.0)
    broke = found("ECCError", a_line(70, file=1, time=time))
    assert cause(broke, finished="trainer", at=end) == expected


def test_a_loss_gone_wrong_beats_the_trainers_word_but_a_pause_does_not() -> None:
    assert cause(found("LossSpike", 40), finished="trainer") == "LossSpike"
    assert cause(found("LossSpike", 70), finished="trainer") == "Completed"
    assert cause(found("Stalled", 20), finished="trainer") == "Completed"


def test_the_trainers_word_stands_against_exit_code_and_launcher() -> None:
    assert cause(finished="trainer", failed=True) == "Completed"
    assert cause(finished="trainer", job=Job(exit_code=1)) == "Completed"


def test_a_wrappers_word_falls_with_any_finding_a_failure_or_an_exit_code() -> None:
    assert cause(finished="wrapper") == "Completed"
    assert cause(found("ECCError", strength="echo"), finished="wrapper") == "Completed"
    assert cause(found("ECCError", strength="clue"), finished="wrapper") == "ECCError"
    assert cause(finished="wrapper", failed=True) == "Unknown"
    assert cause(finished="wrapper", job=Job(exit_code=1)) == "Unknown"
    assert cause(finished="wrapper", job=Job(exit_code=0, state="COMPLETED")) == "Completed"


def test_a_hint_falls_with_the_faintest_finding() -> None:
    assert cause(finished="hint") == "Completed"
    assert cause(found("ECCError", strength="echo"), finished="hint") == "ECCError"
    assert cause(finished="hint", failed=True) == "Unknown"
    assert cause(finished="hint", job=Job(exit_code=1)) == "Unknown"


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (Job(exit_code=0), "Completed"),
        (Job(exit_code=0, state="COMPLETED"), "Completed"),
        (Job(state="COMPLETED"), "Completed"),
        (Job(state="Succeeded"), "Completed"),
        (Job(exit_code=1, state="COMPLETED"), "Unknown"),
        (Job(exit_code=0, state="FAILED"), "Unknown"),
        (Job(exit_code=1), "Unknown"),
        (Job(state="FAILED"), "Unknown"),
        (Job(), "Unknown"),
    ],
)
def test_the_scheduler_says_how_a_silent_log_ended(job: Job, expected: str) -> None:
    assert cause(job=job) == expected


@pytest.mark.parametrize("finished", ["wrapper", "hint"])
@pytest.mark.parametrize("state", ["FAILED", "FAILED+", "Error"])
def test_a_wrappers_word_does_not_stand_against_the_scheduler(
    finished: EndGrade, state: str
) -> None:
    assert cause(finished=finished, job=Job(state=state)) == "Unknown"


def test_a_signal_that_ended_the_job_is_a_failure() -> None:
    assert cause(finished="wrapper", job=Job(signal=9)) == "Unknown"


@pytest.mark.parametrize("state", ["completed", "CD", "COMPLETED "])
def test_states_are_read_in_any_spelling(state: str) -> None:
    assert cause(job=Job(state=state)) == "Completed"


def test_a_warning_does_not_make_a_failure_of_a_job_that_the_scheduler_saw_end_well() -> None:
    job = Job(exit_code=0, state="COMPLETED")
    assert cause(found("ECCError", strength="clue"), job=job) == "Completed"


@pytest.mark.parametrize(
    ("finished", "job", "confidence"),
    [
        ("trainer", Job(), "high"),
        ("trainer", Job(exit_code=0), "high"),
        ("wrapper", Job(), "medium"),
        ("hint", Job(), "medium"),
        (None, Job(exit_code=0), "medium"),
    ],
)
def test_completed_is_as_sure_as_who_says_so(
    finished: EndGrade | None, job: Job, confidence: str
) -> None:
    assert shown(finished=finished, job=job).primary.confidence == confidence


def test_completed_against_an_exit_code_is_not_sure() -> None:
    assert shown(finished="trainer", job=Job(exit_code=1)).primary.confidence == "medium"


def test_completed_shows_the_line_that_says_so() -> None:
    verdict = shown(finished="trainer")
    (evidence,) = verdict.evidence
    assert (evidence.line, evidence.text) == (50, "training is done")
    assert verdict.primary.first_seen is not None
    assert verdict.suspects == ()


def test_evidence_is_root_then_explained_then_context_each_line_once() -> None:
    root = a_finding("ECCError", *(a_line(n, text=f"broken {n}") for n in range(1, 9)))
    waits = found("NCCLTimeoutError", a_line(30, file=1))
    same = found("NCCLTimeoutError", a_line(2), signal="waits_too")
    context = tuple(Sighting("temperature", a_line(40 + n), "context") for n in range(9))
    verdict = shown(root, waits, same, context=context)
    assert [(e.file, e.line) for e in verdict.evidence] == [
        ("rank0.log", 1), ("rank0.log", 2), ("rank0.log", 3), ("rank0.log", 4),
        ("rank1.log", 30), ("rank0.log", 40), ("rank0.log", 41), ("rank0.log", 42),
    ]  # fmt: skip
    assert verdict.evidence[1].why == "saw eccerror"
    assert verdict.evidence[4].why == "NCCLTimeoutError, explained by ECCError"


def test_evidence_is_bounded() -> None:
    waits = [found("NCCLTimeoutError", 100 + n, signal=f"waits_{n}") for n in range(40)]
    verdict = shown(found("ECCError", a_line(1, text="x" * 9000)), *waits)
    assert len(verdict.evidence) == 12
    assert len(verdict.evidence[0].text) == 1000


def test_the_word_of_the_scheduler_is_evidence_of_its_own() -> None:
    verdict = shown(found("Preempted", a_line(0, file=-1, text="state PREEMPTED")))
    assert verdict.primary.cause == "Preempted"
    assert verdict.evidence[0].file == "scheduler"


def raised(message: str, line: Line | None = None, exception: str = "KeyError") -> str:
    facts = {"exception": exception, "message": message}
    return fingerprint(found("KeyError", line or a_line(1), facts=facts))


def test_the_fingerprint_names_the_failure_and_not_where_and_when_it_struck() -> None:
    first = raised("'rank 3 lost batch 17 at 0x7f3a90c0'", a_line(1, rank=3, host="a", time=1.0))
    other = raised("'rank 12 lost batch 9241 at 0x7fffe1a4'", a_line(99, file=1, rank=12))
    assert first == other


def test_another_failure_has_another_fingerprint() -> None:
    prints = [
        raised("'tokens'"),
        raised("'labels'"),
        raised("'tokens'", exception="LookupError"),
        fingerprint(found("KeyError")),
        fingerprint(found("KeyError", signal="other")),
        fingerprint(found("ECCError", signal="keyerror")),
    ]
    assert len(set(prints)) == len(prints)


def test_the_fingerprint_forgets_the_host_that_a_message_names() -> None:
    one = Finding("KeyError", "k", "proof", (Sighting(
        "k", a_line(1, host="hall-b"), "proof",
        {"message": "no answer from hall-b", "host": "hall-b"}),), 1)  # fmt: skip
    other = Finding("KeyError", "k", "proof", (Sighting(
        "k", a_line(1, host="hall-c"), "proof",
        {"message": "no answer from hall-c", "host": "hall-c"}),), 1)  # fmt: skip
    assert fingerprint(one) == fingerprint(other)


def test_a_finding_of_a_cause_that_these_rules_do_not_know_is_no_crash() -> None:
    assert cause(found("HostOutOfMemory", a_line(0, file=-1))) == "Unknown"
