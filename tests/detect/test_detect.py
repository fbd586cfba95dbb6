"""From kept lines to what each attempt shows."""

import pytest

from app.detect.detect import Sighted, detect, look
from app.model import Compressed, Detected, Job, LogFile, Point
from app.rulebook.compiled import Compiled
from app.rulebook.lines import BenignForm
from tests.small_rules import a_cause, a_mark, a_rulebook, a_signal, some_lines

COMPILED = Compiled(
    a_rulebook(
        [a_cause(name) for name in ("Pump", "Wait", "Key", "Preempted", "NativeCrash")],
        [
            a_signal("leak", "Pump", r"pump (?P<pump>\d+) leaks", says="pump {pump} leaks"),
            a_signal("slow", "Wait", "pump is slow", strength="clue"),
            a_signal("gauge", "Wait", "gauge reads", strength="context"),
            a_signal("key", "Key", exception="KeyError"),
        ],
        [
            a_mark("opens", "start", "hall opens"),
            a_mark("closes", "finished", "hall closes", grade="trainer"),
            a_mark("stored", "saved", "water stored"),
            a_mark("ended", "exit", r"task (?P<rank>\d+) on (?P<host>\S+) ended (?P<code>\d+)"),
        ],
    )
)


def seen(*texts: str, points: tuple[Point, ...] = ()) -> Sighted:
    lines = [line for n, text in enumerate(texts) for line in some_lines(text, COMPILED, file=n)]
    counts = [text.strip("\n").count("\n") + 1 for text in texts]
    files = tuple(LogFile(f"{n}.log", 0, count, count) for n, count in enumerate(counts))
    return look(Compressed(files, tuple(lines), (), points), COMPILED)


def found(sighted: Sighted, number: int = -1, job: Job | None = None) -> Detected:
    return detect(sighted, sighted.attempts[number], COMPILED, job or Job())


STORY = """\
hall opens
pump 1 leaks
task 3 on hall-a ended 1
hall opens
water stored
gauge reads 3
pump 2 leaks
task 4 on hall-b ended 2
"""


def test_each_attempt_shows_what_stands_in_its_own_lines() -> None:
    sighted = seen(STORY)
    first, second = found(sighted, 0), found(sighted, 1)
    assert [finding.summary for finding in first.findings] == ["pump 1 leaks"]
    assert [finding.summary for finding in second.findings] == ["pump 2 leaks"]
    assert [mark.facts["rank"] for mark in first.exits] == ["3"]
    assert [mark.facts["rank"] for mark in second.exits] == ["4"]
    assert (len(first.saved), len(second.saved)) == (0, 1)
    assert (len(first.context), len(second.context)) == (0, 1)


def test_a_traceback_is_one_finding_at_its_last_line() -> None:
    sighted = seen(
        """\
Traceback (most recent call last):
  File "/opt/hall/fill.py", line 9, in fill
    water["level"]
KeyError: 'level'
"""
    )
    (finding,) = found(sighted).findings
    assert (finding.signal, finding.strength, finding.first.number) == ("key", "proof", 4)
    assert finding.sightings[0].facts["frame"].startswith("/opt/hall/fill.py")


DIED = """\
Exception in thread Filler:
Traceback (most recent call last):
  File "/opt/hall/fill.py", line 9, in fill
    water["level"]
KeyError: 'level'
"""


@pytest.mark.parametrize(("before", "strength"), [("hall closes\n", "clue"), ("", "proof")])
def test_a_thread_that_dies_when_all_is_done_proves_nothing(before: str, strength: str) -> None:
    (finding,) = found(seen(before + DIED)).findings
    assert finding.strength == strength


def test_what_training_survived_is_left_aside_and_the_remarks_say_so() -> None:
    points = tuple(Point(0, number, "train", step=number) for number in range(2, 9))
    shown = found(seen("pump is slow\n" + "step\n" * 8, points=points))
    assert shown.findings == ()
    assert any("survived" in remark for remark in shown.remarks)
    assert shown.steps == 8


def test_what_training_survived_in_an_earlier_attempt_says_nothing_of_this_one() -> None:
    text = "hall opens\n" + "step\n" * 8 + "hall opens\npump is slow\nbye"
    points = tuple(Point(0, number, "train", step=number) for number in range(2, 9))
    shown = found(seen(text, points=points))
    assert [finding.signal for finding in shown.findings] == ["slow"]
    assert shown.steps == 0


def test_the_end_is_that_of_the_attempt() -> None:
    sighted = seen("hall opens\nhall closes\nhall opens\npump 1 leaks")
    assert found(sighted, 0).ending.finished == "trainer"
    assert found(sighted, 1).ending.finished is None


def test_the_state_of_the_job_is_a_finding_beside_those_of_the_log() -> None:
    shown = found(seen("pump 1 leaks"), job=Job(state="PREEMPTED"))
    assert [finding.cause for finding in shown.findings] == ["Pump", "Preempted"]


def test_several_files_are_one_attempt_and_findings_count_over_all_of_them() -> None:
    shown = found(seen("pump 1 leaks\nx", "hall\npump 1 leaks\npump 1 leaks"))
    (finding,) = shown.findings
    assert finding.count == 3
    assert [(s.line.file, s.line.number) for s in finding.sightings] == [(0, 1), (1, 2), (1, 3)]


def test_a_log_that_shows_nothing_has_no_findings() -> None:
    shown = found(seen("all is well"))
    assert (shown.findings, shown.exits, shown.context, shown.remarks) == ((), (), (), ())


def test_a_loss_in_the_source_of_a_check_is_none() -> None:
    source = BenignForm(name="source", match="raise Error", says="the source of a program")
    compiled = Compiled(a_rulebook([a_cause("Pump")], harmless=[source]))
    lines = tuple(some_lines("raise Error('loss is nan')\nloss is nan\n", compiled))
    points = tuple(Point(0, line.number, "loss", loss=float("nan")) for line in lines)
    sighted = look(Compressed((LogFile("0.log", 0, 2, 2),), lines, (), points), compiled)
    assert [point.number for point in sighted.log.points] == [2]


@pytest.mark.parametrize(
    ("told", "made"),
    [
        ([(rank, step) for step in range(1, 6) for rank in (0, 1, 2)], 5),
        ([(None, step) for step in range(1, 6) for _ in range(3)], 5),
        ([(None, step) for _epoch in range(3) for step in range(1, 6)], 15),
        ([(rank, None) for _step in range(7) for rank in (0, 1)], 7),
        ([(0, 500), (0, 510)], 510),
    ],
    ids=["named ranks", "ranks without names", "numbers begin anew", "no numbers", "some steps"],
)
def test_steps_are_counted_once_however_many_ranks_tell_of_them(told, made):
    points = tuple(Point(0, 1, "step #", rank=rank, step=step, loss=2.0) for rank, step in told)
    assert found(seen("all is well\n", points=points)).steps == made
