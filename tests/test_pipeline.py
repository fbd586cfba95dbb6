"""The whole diagnosis of small logs under small rules, from files to plan."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest

from app.errors import SourceError, SourceNotFound
from app.model import Diagnosis, Job
from app.pipeline import Limits, diagnose
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from tests.small_rules import write_rules

SIGNALS = """\
title: The hall
summary: What is said in the hall.
signals:
  - name: ecc_error
    cause: ECCError
    strength: proof
    match: 'GPU (?P<gpu>\\S+)(?: of (?P<host>\\S+))? lost a bit'
    says: GPU {gpu} lost a bit
    hits: 'GPU 3b lost a bit'
    misses: 'GPU 3b found a bit'
  - name: timed_out
    cause: NCCLTimeoutError
    strength: proof
    match: 'waited (?P<timeout_s>\\d+) s in vain'
    says: waited {timeout_s} seconds in vain
    hits: 'waited 600 s in vain'
    misses: 'waited in vain'
  - name: key_missing
    cause: KeyError
    strength: proof
    exception: KeyError
    says: the key {message} is missing
    hits: 'Traceback (most recent call last):\\n  File "a.py", line 3\\nKeyError: 3'
    misses: 'no error'
"""
MARKS = """\
title: The hall
summary: Where the work stands.
marks:
  - name: hall_opens
    kind: start
    match: 'the hall opens'
    hits: 'the hall opens'
    misses: 'the hall is open'
  - name: hall_closes
    kind: finished
    grade: trainer
    match: 'the hall closes'
    hits: 'the hall closes'
    misses: 'the hall is closed'
"""


def a_cause(action: str, explains: str = "") -> str:
    return (
        f"title: It came about\nsummary: What it means.\n{explains}"
        f"recovery:\n  action: {action}\n  steps: ['See {{host}}.']\n"
    )


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    folder = write_rules(
        tmp_path_factory.mktemp("rules"),
        {
            "causes/plant/_domain.yaml": None,
            "causes/plant/PumpFault.yaml": None,
            "causes/plant/Waiting.yaml": None,
            "signals/pump.yaml": None,
            "causes/hardware/ECCError.yaml": a_cause(
                "cordon_and_restart", "explains:\n  always: [NCCLTimeoutError]\n"
            ),
            "causes/hardware/NCCLTimeoutError.yaml": a_cause("restart"),
            "causes/script/KeyError.yaml": a_cause(
                "fix_code", "explains:\n  if_earlier: [NCCLTimeoutError]\n"
            ),
            "signals/hall.yaml": SIGNALS,
            "marks/hall.yaml": MARKS,
        },
    )
    return Compiled(load(folder))


def read(folder: Path, rules: Compiled, files: Mapping[str, str], **known: object) -> Diagnosis:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return diagnose([folder], rules, **known)


def shown(found: Diagnosis) -> dict[tuple[str, int], str]:
    return {(e.file, e.line): e.text for e in found.verdict.evidence}


KEY = """\
Traceback (most recent call last):
  File "/opt/hall/fill.py", line 9, in fill
    level = water["level"]
KeyError: 'level'
"""
TIMES = "2026-03-04 10:{:02d}:00,000 "


def test_one_log_gives_verdict_plan_and_digest(tmp_path: Path, rules: Compiled) -> None:
    text = "all is well\n" * 3 + "GPU 3b of gpu-a lost a bit\n[rank1]: waited 600 s in vain\n"
    found = read(tmp_path, rules, {"train.log": text}, job=Job(job_id="7", scheduler="slurm"))
    primary = found.verdict.primary
    assert (primary.cause, primary.domain, primary.confidence) == ("ECCError", "hardware", "high")
    assert primary.summary == "It came about: GPU 3b lost a bit"
    assert primary.first_seen is not None
    assert (primary.first_seen.file, primary.first_seen.line) == ("train.log", 4)
    (explained,) = found.verdict.explained
    assert (explained.cause, explained.by, explained.first_line) == (
        "NCCLTimeoutError", "ECCError", 5,
    )  # fmt: skip
    assert shown(found) == {
        ("train.log", 4): "GPU 3b of gpu-a lost a bit",
        ("train.log", 5): "[rank1]: waited 600 s in vain",
    }
    assert (found.plan.action, found.plan.targets) == ("cordon_and_restart", ("gpu-a",))
    assert found.plan.steps == ("See gpu-a.",)
    assert found.job.job_id == "7"
    assert found.rules == rules.rulebook.fingerprint
    assert "4: GPU 3b of gpu-a lost a bit" in found.digest
    assert found.attempts == ()


def test_places_are_those_of_the_right_file_and_line(tmp_path: Path, rules: Compiled) -> None:
    files = {
        "rank0.log": "x\n" * 20 + "[rank0]: waited 600 s in vain\n",
        "rank2.log": "x\n" * 6 + KEY,
        "rank10.log": "x\n" * 8 + "[rank10]: waited 600 s in vain\n",
    }
    found = read(tmp_path, rules, files)
    assert found.verdict.primary.cause == "KeyError"
    assert found.verdict.primary.first_seen is not None
    seen = found.verdict.primary.first_seen
    assert (seen.file, seen.line) == ("rank2.log", 10)
    (explained,) = found.verdict.explained
    assert (explained.file, explained.first_line, explained.count) == ("rank0.log", 21, 2)
    for (name, number), text in shown(found).items():
        assert files[name].splitlines()[number - 1] == text
    assert [file.name for file in found.log.files] == ["rank0.log", "rank2.log", "rank10.log"]


@pytest.mark.parametrize(("before", "primary"), [(True, "KeyError"), (False, "NCCLTimeoutError")])
def test_across_files_the_clock_tells_what_came_first(
    tmp_path: Path, rules: Compiled, before: bool, primary: str
) -> None:
    files = {
        "a.log": TIMES.format(20) + "waited 600 s in vain\n",
        "b.log": TIMES.format(10 if before else 30) + "KeyError: 'level'\n",
    }
    files["b.log"] = TIMES.format(10 if before else 30) + "it raised\n" + "".join(
        f"{TIMES.format(10 if before else 30)}{line}\n" for line in KEY.splitlines()
    )  # fmt: skip
    assert read(tmp_path, rules, files).verdict.primary.cause == primary


def test_the_last_attempt_is_judged_and_the_earlier_ones_are_told(
    tmp_path: Path, rules: Compiled
) -> None:
    text = (
        "the hall opens\nGPU 3b of gpu-a lost a bit\n"
        "the hall opens\nthe hall closes\n"
        "the hall opens\nx\n" + KEY
    )
    found = read(tmp_path, rules, {"train.log": text})
    assert found.verdict.primary.cause == "KeyError"
    assert found.verdict.other_roots == ()
    assert [(a.number, a.file, a.lines, a.cause) for a in found.attempts] == [
        (1, "train.log", (1, 2), "ECCError"),
        (2, "train.log", (3, 4), "Completed"),
    ]


def test_a_run_that_finished_before_a_failing_one_does_not_make_it_finished(
    tmp_path: Path, rules: Compiled
) -> None:
    text = "the hall opens\nthe hall closes\nthe hall opens\n" + KEY
    assert read(tmp_path, rules, {"train.log": text}).verdict.primary.cause == "KeyError"


def test_attempts_in_files_of_their_own_are_told_by_file(tmp_path: Path, rules: Compiled) -> None:
    files = {
        "attempt_0/rank0.log": "x\nwaited 600 s in vain\n",
        "attempt_0/rank1.log": "x\n" + KEY,
        "attempt_1/rank0.log": "y\nthe hall closes\n",
    }
    found = read(tmp_path, rules, files)
    assert found.verdict.primary.cause == "Completed"
    (told,) = found.attempts
    assert (told.file, told.lines) == ("attempt_0/rank0.log", (1, 2))
    assert told.cause in ("KeyError", "NCCLTimeoutError")


def test_what_the_caller_knows_is_about_the_last_attempt(tmp_path: Path, rules: Compiled) -> None:
    text = "the hall opens\nthe hall closes\nthe hall opens\nx\n"
    found = read(tmp_path, rules, {"train.log": text}, job=Job(exit_code=1))
    assert found.verdict.primary.cause == "Unknown"
    assert [attempt.cause for attempt in found.attempts] == ["Completed"]
    again = read(tmp_path, rules, {"train.log": text}, job=Job(exit_code=0))
    assert again.verdict.primary.cause == "Completed"


def test_hardware_of_a_host_that_failed_before_is_taken_out(
    tmp_path: Path, rules: Compiled
) -> None:
    text = "the hall opens\nGPU 3b of gpu-a lost a bit\n" * 2
    found = read(tmp_path, rules, {"train.log": text})
    assert found.plan.targets == ("gpu-a",)
    assert [attempt.cause for attempt in found.attempts] == ["ECCError"]


def test_a_rank_that_moved_is_looked_for_where_it_ran_last(tmp_path: Path, rules: Compiled) -> None:
    text = "the hall opens\n" + "gpu-a: [rank3]: x\n" * 9 + "[rank3]: GPU 3b lost a bit\n"
    text += "the hall opens\ngpu-b: [rank3]: y\n[rank3]: GPU 3b lost a bit\n"
    found = read(tmp_path, rules, {"train.log": text})
    assert [suspect.host for suspect in found.verdict.suspects] == ["gpu-b"]


def test_the_log_is_counted(tmp_path: Path, rules: Compiled) -> None:
    text = "".join(f"gauge {n} reads {n}\n" for n in range(990)) + "kept\n" * 10
    log = read(tmp_path, rules, {"train.log": text, "more.log": "gauge 1 reads 2\n"}).log
    assert (log.bytes, log.lines) == (len(text) + 16, 1001)
    assert log.kept_lines == 10
    assert log.ratio == round(10 / 1001, 6)
    assert log.templates >= 1
    assert log.seconds >= 0
    assert [(file.name, file.lines) for file in log.files] == [("more.log", 1), ("train.log", 1000)]


def test_progress_is_told_in_bytes_up_to_the_end(tmp_path: Path, rules: Compiled) -> None:
    told: list[int] = []
    read(tmp_path, rules, {"a.log": "x\n" * 9, "b.log": "y\n" * 9}, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 36


def test_several_threads_give_the_same_answer(tmp_path: Path, rules: Compiled) -> None:
    files = {f"rank{n}.log": f"[rank{n}]: waited 600 s in vain\n" * 50 for n in range(6)}
    files["rank6.log"] = KEY
    one = read(tmp_path, rules, files, limits=Limits(threads=1))
    four = read(tmp_path, rules, files, limits=Limits(threads=4))
    assert (one.verdict, one.plan, one.digest) == (four.verdict, four.plan, four.digest)


def test_a_stream_is_a_log_too(rules: Compiled) -> None:
    found = diagnose([BytesIO(KEY.encode())], rules)
    assert found.verdict.primary.cause == "KeyError"
    assert found.log.files[0].name == "stdin"


def test_a_log_that_is_missing_or_empty_is_an_error_of_the_source(
    tmp_path: Path, rules: Compiled
) -> None:
    with pytest.raises(SourceNotFound):
        diagnose([tmp_path / "gone.log"], rules)
    (tmp_path / "empty.log").touch()
    with pytest.raises(SourceError, match="empty"):
        diagnose([tmp_path / "empty.log"], rules)


def test_a_log_that_says_nothing_is_unknown_and_the_plan_says_so(
    tmp_path: Path, rules: Compiled
) -> None:
    found = read(tmp_path, rules, {"train.log": "all is well\n"})
    assert (found.verdict.primary.cause, found.plan.action) == ("Unknown", "none")
    assert not found.plan.restart


def test_bytes_that_are_no_text_are_read_all_the_same(tmp_path: Path, rules: Compiled) -> None:
    (tmp_path / "train.log").write_bytes(b"\xff\xfe\x00\x80junk\n" + KEY.encode() + b"\x00" * 5000)
    assert diagnose([tmp_path], rules).log.lines >= 1
    (tmp_path / "train.log").write_bytes(b"\x80junk\xff\n" + KEY.encode())
    assert diagnose([tmp_path], rules).verdict.primary.cause == "KeyError"
