"""A run that was written behind the end of another one, without a start line between them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from app.detect.appended import appended_runs, heads
from app.model import Compressed, EndGrade, Line, LogFile, Marked, Point, Sighting, Strength

_HOUR = 3600.0


class Text:
    """A file written line by line."""

    def __init__(self, file: int = 0) -> None:
        self.file = file
        self.lines: list[Line] = []
        self.marks: list[Marked] = []
        self.points: list[Point] = []
        self.sightings: list[Sighting] = []

    def say(self, text: str = "…", time: float | None = None) -> Line:
        self.lines.append(Line(self.file, len(self.lines) + 1, text, text, time=time))
        return self.lines[-1]

    def mark(self, kind: str, grade: EndGrade | None = None, time: float | None = None) -> None:
        self.marks.append(Marked(f"some_{kind}", kind, self.say(kind, time), grade))

    def show(self, strength: Strength, text: str, time: float | None = None) -> None:
        self.sightings.append(Sighting("some_signal", self.say(text, time), strength))

    def steps(
        self, *steps: int, series: str = "step", loss: float | None = 2.0, at: float | None = None
    ) -> None:
        for step in steps:
            number = self.say(f"{series} {step}", at).number
            self.points.append(Point(self.file, number, series, step=step, loss=loss))


def runs(*texts: Text) -> Mapping[int, Sequence[int]]:
    log = Compressed(
        tuple(LogFile(f"{t.file}.log", 1, len(t.lines), len(t.lines)) for t in texts),
        tuple(line for text in texts for line in text.lines),
        (),
        tuple(point for text in texts for point in text.points),
    )
    return appended_runs(
        log,
        [mark for text in texts for mark in text.marks],
        [sighting for text in texts for sighting in text.sightings],
    )


def ended_run(file: int = 0, time: float | None = None) -> Text:
    text = Text(file)
    text.steps(10, 20, 30, 40, at=time)
    text.mark("finished", "trainer", time)
    return text


def test_steps_that_begin_anew_are_another_run() -> None:
    text = ended_run()
    text.say("loading")
    text.steps(10, 20, 30)
    assert runs(text) == {0: [7]}


def test_the_loss_of_another_program_is_another_run() -> None:
    text = ended_run()
    text.steps(50, 60, 70, series="iter")
    assert runs(text) == {0: [6]}


def test_a_trainer_that_goes_on_counting_had_not_ended() -> None:
    text = ended_run()
    text.steps(50, 60, 70, 80)
    assert runs(text) == {}


@pytest.mark.parametrize("series", ["eval step", "bar of 12"])
def test_an_evaluation_or_an_upload_is_no_run(series: str) -> None:
    text = ended_run()
    text.steps(*range(1, 13), series=series, loss=None)
    assert runs(text) == {}


def test_two_readings_are_no_run() -> None:
    text = ended_run()
    text.steps(10, 20, series="final")
    assert runs(text) == {}


def test_a_counter_without_a_loss_is_a_run_once_it_has_counted_for_long() -> None:
    text = ended_run()
    text.steps(*range(1, 12), series="round", loss=None)
    assert runs(text) == {0: [6]}


def test_what_merely_looks_like_an_end_is_none() -> None:
    text = Text()
    text.steps(10, 20, 30)
    text.mark("finished", "hint")
    text.steps(10, 20, 30)
    assert runs(text) == {}


def test_processes_that_look_for_their_peers_are_another_run() -> None:
    text = ended_run()
    line = text.say("n-1:7:7 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.7<0>")
    text.marks.append(Marked("nccl_bootstrap", "place", line))
    assert runs(text) == {0: [6]}


def test_a_failure_hours_after_the_end_is_that_of_another_run() -> None:
    text = ended_run(time=1000.0)
    text.say("tearing down", 1010.0)
    text.say("loading")
    text.say("cannot connect", 1000.0 + 3 * _HOUR)
    text.mark("failed")
    assert runs(text) == {0: [7]}


@pytest.mark.parametrize("hours", [0.5, 1.9])
def test_a_failure_soon_after_the_end_is_that_of_the_ending(hours: float) -> None:
    text = ended_run(time=1000.0)
    text.say("aborting", 1000.0 + hours * _HOUR)
    text.mark("failed")
    assert runs(text) == {}


def test_an_error_of_a_program_hours_after_the_end_is_that_of_another_run() -> None:
    text = ended_run(time=1000.0)
    text.show("clue", "cannot connect", 1000.0 + 3 * _HOUR)
    assert runs(text) == {0: [6]}


@pytest.mark.parametrize(
    ("strength", "words"),
    [
        ("proof", "kernel: NVRM: Xid (PCI:0000:4e:00): 79"),
        ("proof", "[81234.567890] mlx5_core 0000:5c:00.0: health compromised"),
        ("echo", "exited"),
        ("context", "link is up"),
    ],
)
def test_the_kernel_and_mere_reports_go_on_after_a_job(strength: Strength, words: str) -> None:
    text = ended_run(time=1000.0)
    text.show(strength, words, 1000.0 + 30 * _HOUR)
    assert runs(text) == {}


def test_the_text_of_another_run_begins_behind_the_end_or_at_its_start() -> None:
    text = ended_run()
    text.say("tearing down")
    text.steps(10, 20, 30)
    assert heads(runs(text), text.marks) == {0: [(6, 7)]}
    text = ended_run()
    text.say("tearing down")
    text.mark("start")
    text.steps(10, 20, 30)
    assert heads(runs(text), text.marks) == {0: [(7, 8)]}


def test_lines_of_later_days_are_no_run_unless_something_failed() -> None:
    text = ended_run(time=1000.0)
    text.say("kernel: eth0: link is up", 1000.0 + 30 * _HOUR)
    assert runs(text) == {}


def test_where_one_file_begins_another_run_the_other_files_of_the_job_do_too() -> None:
    first, second = ended_run(0), ended_run(1)
    first.steps(10, 20, 30)
    second.say("node 1 waits")
    assert runs(first, second) == {0: [6], 1: [6]}


def test_a_job_that_never_ended_has_no_other_run() -> None:
    text = ended_run()
    text.marks = [replace(mark, kind="saved", grade=None) for mark in text.marks]
    text.steps(10, 20, 30)
    assert runs(text) == {}


def test_a_counter_that_reached_its_total_ends_a_job_where_another_program_trains_on() -> None:
    def counted(total: int) -> Text:
        text = Text()
        text.steps(*range(total // 10, total + 1, total // 10), series="batch")
        text.points = [replace(point, total_steps=total) for point in text.points]
        text.steps(5, 6, 7, series="it")
        return text

    assert runs(counted(400)) == {0: [11]}
    assert runs(counted(40)) == {}, "a warm-up"
