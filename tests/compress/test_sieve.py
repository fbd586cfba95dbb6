import pytest

from app.compress import budget
from app.compress.budget import LATE_BYTES, MAX_BYTES, MAX_LINES, PER_PROBE, RESERVE_BYTES
from app.compress.sieve import MAX_TEXT
from app.read.blocks import BLOCK_BYTES
from tests.compress.plant import plant, read

ROUTINE = b"drop no. %d fell\n"
LEAKS = next(n for n, probe in enumerate(plant().probes) if "leaks" in probe.source)
WAITED = next(n for n, probe in enumerate(plant().probes) if "waited" in probe.source)


def routine(count, begin=0):
    return b"".join(ROUTINE % n for n in range(begin, begin + count))


def numbers(log):
    return [line.number for line in log.lines]


def texts(log):
    return [line.raw for line in log.lines]


def where(log, text):
    return [line.number for line in log.lines if text in line.raw]


def test_a_small_log_keeps_all_that_no_filter_drops():
    log = read(b"one\n" * 300 + routine(500) + b"two\n" * 300 + routine(500))
    assert numbers(log) == [*range(1, 301), *range(801, 1101), *range(1401, 1601)]
    assert log.files[0].kept_lines == 600


def test_the_beginning_and_the_end_stay_whatever_the_filters_say():
    log = read(routine(5000))
    assert numbers(log) == [*range(1, 41), *range(4801, 5001)]
    assert texts(log)[-1] == "drop no. 4999 fell"
    assert log.files[0].kept_lines == 0


def test_a_line_met_by_a_probe_stays_although_a_filter_drops_it():
    log = read(routine(1000) + b"drop no. 7 fell since pump 3 leaks\n" + routine(1000))
    (line,) = (line for line in log.lines if "leaks" in line.raw)
    assert (line.number, line.met) == (1001, (LEAKS,))


@pytest.mark.parametrize(
    ("loud", "times"),
    [(ROUTINE, 500_000), (b"note %d of the keeper\n", 100_000), (b"pump 3 leaks, %d\n", 100_000)],
)
def test_one_rare_line_among_a_million_stays(loud, times):
    rare = b"waited 30 s for the pump\n"
    half = b"".join(loud % n for n in range(times))
    log = read(half + rare + half)
    (line,) = (line for line in log.lines if "waited" in line.raw)
    assert (line.number, line.met) == (times + 1, (WAITED,))
    assert len(log.lines) < 16_000


def test_one_plain_line_unlike_all_others_stays():
    half = b"".join(b"note %d of the keeper\n" % n for n in range(100_000))
    log = read(half + b"the keeper fell asleep\n" + half)
    assert where(log, "asleep") == [100_001]


def test_one_timeout_line_of_each_of_thousands_of_ranks_stays():
    ranks = [b"[rank%d]: waited 30 s for the pump" % rank for rank in range(4096)]
    log = read(routine(20_000) + b"\n".join(ranks) + b"\n" + routine(20_000))
    assert [line.rank for line in log.lines if WAITED in line.met] == list(range(4096))


def test_of_a_probe_that_meets_too_much_the_first_and_the_last_lines_stay():
    total = 60_000
    log = read(b"".join(b"pump %d leaks\n" % n for n in range(total)))
    found = [int(line.raw.split()[1]) for line in log.lines if line.met]
    assert found[:PER_PROBE] == list(range(PER_PROBE))
    late = found[PER_PROBE:]
    assert late == list(range(total - len(late), total))
    assert 2000 < len(late) < 10_000


def test_a_loud_beginning_cannot_silence_what_comes_later(monkeypatch):
    monkeypatch.setattr(budget, "MAX_BYTES", 200_000)
    loud = b"".join(b"pump %d leaks %s\n" % (n, b"x" * 2000) for n in range(3000))
    later = b"waited 30 s for the pump\n" + routine(300) + b"ValueError: of another kind\n"
    log = read(loud + later + routine(1000) + b"gauge 7 reads 12\n" + routine(1000))
    assert where(log, "waited") == [3001]
    assert where(log, "ValueError") == [3302]
    assert where(log, "gauge") == [4303]


def test_the_parts_of_a_traceback_keep_the_lines_below_them():
    trace = [
        b"Traceback (most recent call last):",
        b'  File "/srv/run/train.py", line 88, in step',
        b"    drop no. 7 of the tray",
        b"ValueError: a message",
        b"drop no. 8, its second line",
        b"drop no. 9, its third line",
    ]
    data = routine(1000) + b"\n".join(trace) + b"\n" + routine(1000)
    for size in (BLOCK_BYTES, 500, 700, 1100):
        assert set(range(1001, 1007)) <= set(numbers(read(data, size=size)))


def test_budgets_hold_on_lines_that_all_meet_probes():
    line = b"pump 3 leaks, waited 30 s for the pump, ValueError: gauge 7 reads %d " + b"y" * 3000
    log = read(b"".join(line % n + b"\n" for n in range(10_000)))
    held = sum(len(line.raw) for line in log.lines)
    assert held < MAX_BYTES + RESERVE_BYTES + LATE_BYTES + 200 * MAX_TEXT
    assert len(log.lines) < MAX_LINES


def test_budgets_hold_on_lines_that_were_redrawn_a_thousand_times():
    log = read((b"\ra\rb" * 500 + b"\n") * 600)
    assert len(log.lines) < MAX_LINES * 1.3


def test_budgets_hold_over_many_files():
    logs = [routine(300) + b"pump 3 leaks\n" * 100 for _ in range(400)]
    log = read(*logs)
    assert len(log.lines) < 40_000
    assert {line.file for line in log.lines if line.met} == set(range(400))
    ends = {line.file: line.number for line in log.lines}
    assert set(ends.values()) == {400}


def test_the_evidence_in_the_middle_of_a_long_line_is_within_the_kept_text():
    filler = b"abcdefgh " * 55_000
    log = read(b"ok\n[rank3]: " + filler + b"pump 41 leaks; " + filler + b"\nok\n")
    (line,) = (line for line in log.lines if line.met)
    assert (line.number, line.rank) == (2, 3)
    assert "pump 41 leaks; abcdefgh" in line.raw
    assert len(line.raw) <= MAX_TEXT
    # Whoever quotes but the beginning of the line quotes the evidence.
    assert "pump 41 leaks" in line.raw[:1000]


def test_several_things_in_one_long_line_are_each_kept():
    filler = b"abcdefgh " * 20_000
    log = read(filler + b"pump 41 leaks" + filler + b"waited 30 s for the pump")
    assert [(line.number, line.met) for line in log.lines if line.met] == [
        *[(1, (LEAKS,)), (1, (WAITED,))]
    ]
    assert texts(log)[1].endswith("waited 30 s for the pump")


def test_things_that_stand_close_in_a_long_line_are_kept_together():
    log = read(b"x" * 50_000 + b" pump 41 leaks, so waited 30 s for the pump. " + b"y" * 50_000)
    (line,) = (line for line in log.lines if line.met)
    assert set(line.met) == {LEAKS, WAITED}


def test_of_a_long_line_without_evidence_the_beginning_and_the_end_stay():
    log = read(b"begin " + b"x" * 100_000 + b" end\n")
    (line,) = log.lines
    assert line.raw.startswith("begin xxx")
    assert " … xxx" in line.raw
    assert line.raw.endswith("xxx end")
    assert len(line.raw) <= MAX_TEXT


@pytest.mark.parametrize("size", [BLOCK_BYTES, 1 << 20, 300_000])
def test_what_follows_a_megabyte_of_nul_on_the_same_line_is_kept(size):
    data = b"ok\n" + bytes(3 << 20) + b"[rank5]: pump 41 leaks\nstep 3\n"
    log = read(data, size=size)
    (line,) = (line for line in log.lines if line.met)
    assert (line.number, line.raw) == (2, " … [rank5]: pump 41 leaks")
    assert log.lines[-1].raw == "step 3"
    assert log.lines[-1].number == log.total_lines == 3


@pytest.mark.parametrize("size", [BLOCK_BYTES, 4 << 20, 1_000_003])
def test_a_line_longer_than_many_blocks_counts_once_and_shows_all_its_evidence(size):
    filler = b"abcdefgh " * 1_000_000
    data = b"one\n" + filler + b"pump 41 leaks" + filler + b"waited 30 s for the pump\nlast\n"
    log = read(data, size=size)
    assert where(log, "pump 41 leaks") == [2]
    assert where(log, "waited 30 s") == [2]
    assert where(log, "last") == [3]
    assert log.total_lines == 3
    assert log.files[0].kept_lines == 3
    assert log.files[0].bytes == len(data)
    assert sum(template.count for template in log.templates) == 3


def test_evidence_is_found_wherever_a_long_line_is_cut():
    for shift in range(0, 60):
        data = b"x" * (1000 + shift) + b" pump 41 leaks " + b"y" * 2000
        assert where(read(data, size=1024), "pump 41 leaks") in ([1], [1, 1])


def test_the_tail_of_a_bar_line_is_kept_with_its_rank():
    bar = b"".join(
        b"\r%3d%%|###   | %d/9000 [00:10<01:00, 3.1it/s]" % (n // 90, n) for n in range(9000)
    )
    log = read(b"start\n" + bar + b"[rank2]: ValueError: pump 7 leaks\nend\n")
    (line,) = (line for line in log.lines if LEAKS in line.met and "leaks" in line.raw)
    assert (line.number, line.rank, line.text) == (2, 2, "ValueError: pump 7 leaks")
    assert texts(log)[-1] == "end"
