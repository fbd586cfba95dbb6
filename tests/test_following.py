"""A diagnosis of a log that is still written."""

import threading
import time

import pytest

from app.errors import SourceError
from app.following import follow
from app.read.follow import Following
from app.written import Routine
from tests.logagent.formats import FORMATS, write
from tests.own_rules import COMPILED

ORBIT = FORMATS[0]
FILTERS = [Routine(name, match) for name, match, _, _ in ORBIT.filters]


def followed(path, compiled=COMPILED, quiet=0.3):
    news = []
    reader = Following(path, quiet, poll_seconds=0.02)
    found = follow("job.log", reader, compiled, news.append)
    return found, news


@pytest.fixture
def log(tmp_path):
    return write(ORBIT, tmp_path / "job.log", 60_000)


def test_the_verdict_is_that_of_a_diagnosis_afterwards(log):
    found, news = followed(log.path)
    assert found.verdict.primary.cause == ORBIT.cause
    assert found.verdict.primary.first_seen.line == log.wanted[-1]
    assert news[-1].lines == found.log.lines


def test_first_faults_are_told_as_they_come(log):
    whole = log.path.read_text()
    start, rest = whole[:30_000], whole[30_000:]
    log.path.write_text(start)

    def later():
        time.sleep(0.15)
        with log.path.open("a") as file:
            file.write(rest)

    thread = threading.Thread(target=later)
    thread.start()
    _, news = followed(log.path)
    thread.join()
    assert not news[0].faults
    (fault,) = [fault for one in news for fault in one.faults]
    assert (fault.cause, fault.line.number) == (ORBIT.cause, log.wanted[-1])


def test_an_exception_is_told_although_its_traceback_comes_in_two_parts(tmp_path):
    path = tmp_path / "job.log"
    head = 'Traceback (most recent call last):\n  File "train.py", line 61, in main\n'
    path.write_text("step 1 loss 2.0\n" + head)

    def later():
        time.sleep(0.15)
        with path.open("a") as file:
            file.write("    x = batch['pump']\nKeyError: 'pump'\n")

    thread = threading.Thread(target=later)
    thread.start()
    _, news = followed(path)
    thread.join()
    (fault,) = [fault for one in news for fault in one.faults]
    assert (fault.cause, fault.line.raw) == ("KeyError", "KeyError: 'pump'")


def test_with_the_filters_of_its_type_hardly_anything_is_left(log):
    _, bare = followed(log.path)
    _, filtered = followed(log.path, COMPILED.with_written(FILTERS))
    assert bare[-1].tokens > 20_000
    assert filtered[-1].tokens < 500


def test_new_kinds_are_counted_and_some_are_shown(log):
    _, news = followed(log.path)
    assert 3 <= sum(one.new_kinds for one in news) <= 10
    assert "orbit engine part" in news[0].examples[0]


def test_a_line_that_says_how_the_job_ended_shortens_the_wait(tmp_path):
    path = tmp_path / "job.log"
    path.write_text("orbit 3\nsrun: error: gpu-7: task 3: Exited with exit code 1\n")
    reader = Following(path, 3600, poll_seconds=0.02)
    news = []

    def tell(one):
        news.append(one)
        if one.ending:
            assert reader.quiet_seconds <= 20
            reader.stop()

    follow("job.log", reader, COMPILED, tell)
    assert any(one.ending for one in news)


def test_a_log_in_which_nothing_came_is_no_log(tmp_path):
    path = tmp_path / "job.log"
    path.touch()
    with pytest.raises(SourceError, match="empty"):
        followed(path)
