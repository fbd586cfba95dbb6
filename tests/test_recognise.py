import gzip
import io

import pytest

from app.recognise import outline_of
from app.written import JobType, likeness, nearest_type, new_name, same_type
from tests.logagent.formats import FORMATS, write


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    return {
        (form.name, seed): write(form, folder / f"{form.name}{seed}.log", 600_000, seed).path
        for form in FORMATS
        for seed in (1, 2)
    }


@pytest.mark.parametrize("name", [form.name for form in FORMATS])
def test_two_logs_of_one_trainer_are_of_one_type(logs, name):
    first, second = outline_of([logs[name, 1]]), outline_of([logs[name, 2]])
    types = [JobType(form.name, outline_of([logs[form.name, 1]])) for form in FORMATS]
    assert likeness(first, second) > 0.5
    assert same_type(second, types).name == name


def test_logs_of_other_trainers_are_of_no_known_type(logs):
    types = [JobType("orbit", outline_of([logs["orbit", 1]]))]
    assert same_type(outline_of([logs["loom", 1]]), types) is None
    assert nearest_type(outline_of([logs["loom", 1]]), types) is None


def test_a_packed_log_is_of_the_same_type(logs, tmp_path):
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(logs["furrow", 2].read_bytes()))
    assert likeness(outline_of([packed]), outline_of([logs["furrow", 1]])) == 1


def test_the_start_and_the_failure_of_a_job_tell_nothing_of_its_type(logs, tmp_path):
    text = logs["furrow", 1].read_text()
    other = tmp_path / "other.log"
    other.write_text("installing loom 3\n" * 200 + text + "ValueError: 3\n" * 200)
    assert outline_of([other]) == outline_of([logs["furrow", 1]])


def test_a_type_is_named_after_what_its_logs_repeat(logs):
    names = {new_name(outline_of([logs["furrow", seed]])) for seed in (1, 2)}
    assert len(names) == 1


def test_a_part_of_its_lines_makes_a_type_near_and_not_the_same():
    known = JobType("a", frozenset(range(10)))
    other = frozenset(range(6, 14))
    assert same_type(other, [known]) is None
    assert nearest_type(other, [known]) is known


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b broken", b"a line\n"])
def test_a_log_that_says_little_or_nothing_has_no_type(tmp_path, data):
    log = tmp_path / "log"
    log.write_bytes(data)
    assert outline_of([log]) == frozenset()


def test_a_stream_is_left_alone(tmp_path):
    stream = io.BytesIO(b"step 3\n" * 100)
    assert outline_of([stream]) == outline_of([tmp_path / "nothing"]) == frozenset()
    assert stream.tell() == 0
