from app.compress.volume import volume
from tests.compress.plant import read

ROUTINE = b"".join(b"lathe %d turns at %d rpm\n" % (n % 7, n) for n in range(3_000))
LOG = ROUTINE + b"".join(b"oil %d is low\n" % n for n in range(20)) + b"pump 3 leaks\n"


def test_what_is_left_is_measured_in_lines_and_tokens():
    found = volume(read(LOG), 10**6)
    assert (found.lines, found.kept) == (3_021, 3_021)
    assert 3_000 * 10 < found.tokens < 3_000 * 16
    assert not found.kinds


def test_past_the_budget_it_consists_of_kinds_the_largest_first():
    lathe, oil = volume(read(LOG), 6_000).kinds
    assert (lathe.text, lathe.count) == ("lathe # turns at # rpm", 3_000)
    assert oil.count == 20


def test_samples_come_from_all_over_the_log():
    lathe, _ = volume(read(LOG), 6_000).kinds
    assert len(lathe.samples) == 8
    assert lathe.samples[0].endswith("at 0 rpm")
    assert lathe.samples[-1].endswith("at 2999 rpm")


def test_a_line_that_a_signal_meets_is_no_kind():
    leaks = b"".join(b"pump %d leaks\n" % n for n in range(3_000))
    found = volume(read(leaks + LOG), 6_000)
    assert all("leaks" not in kind.text for kind in found.kinds)
    assert found.spared == ("pump 3 leaks",)


def test_what_filters_take_away_is_not_left():
    gauges = b"gauge 9 reads 1\n" * 5_000
    found = volume(read(gauges + b"oil 3 is low\n"), 6_000)
    assert (found.kept, found.lines, found.removed) == (1, 5_001, {"gauges": 5_000})
