from datetime import UTC, datetime

import pytest

from app.read.clock import Clock


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("raw", "time", "rest"),
    [
        ("2026-01-02T03:04:05Z up", "2026-01-02T03:04:05", "up"),
        ("2026-01-02T03:04:05.250+00:00 up", "2026-01-02T03:04:05.250", "up"),
        ("2026-01-02T03:04:05+0200 up", "2026-01-02T01:04:05", "up"),
        ("2026-01-02 03:04:05 -08:00 up", "2026-01-02T11:04:05", "up"),
        ("2026-01-02T03:04:05.123456789Z up", "2026-01-02T03:04:05.123457", "up"),
        ("2026-01-02 03:04:05,678 - fit - INFO - up", "2026-01-02T03:04:05.678", "fit - INFO - up"),
        ("[2026-01-02 03:04:05,678] [INFO] up", "2026-01-02T03:04:05.678", "[INFO] up"),
        ("[2026-01-02T03:04:05.250] error: up", "2026-01-02T03:04:05.250", "error: up"),
        ("2026-01-02 03:04:05.250 | INFO     | a:b:1 - up", None, "INFO     | a:b:1 - up"),
        ("2026-01-02,03:04:05 | up", "2026-01-02T03:04:05", "up"),
        ("2026/01/02 03:04:05 up", "2026-01-02T03:04:05", "up"),
        (
            "2026-01-02 03:04:05.5: E external/xla up",
            "2026-01-02T03:04:05.500",
            "E external/xla up",
        ),
        ("2026-01-02-03:04:05.250.118 up", "2026-01-02T03:04:05.250", "up"),
        ("2026-Jan-02 03:04:05.0400 81:83 ERROR", "2026-01-02T03:04:05.040", "81:83 ERROR"),
        ("2026-01-02 03:04:05 PM up", "2026-01-02T15:04:05", "up"),
        ("2026-01-02 12:04:05 AM up", "2026-01-02T00:04:05", "up"),
        ("01/02/2026 03:04:05 - INFO - up", "2026-01-02T03:04:05", "INFO - up"),
        ("27/01/2026 03:04:05 up", "2026-01-27T03:04:05", "up"),
        ("[01/02/26 03:04:05] INFO     up", "2026-01-02T03:04:05", "INFO     up"),
        ("02.01.2026 03:04:05 up", "2026-01-02T03:04:05", "up"),
        ("26-01-02 03:04:05 - PID:81 - up", "2026-01-02T03:04:05", "PID:81 - up"),
        ("[Fri Jan  2 03:04:05 2026] NVRM: up", "2026-01-02T03:04:05", "NVRM: up"),
        ("Fri Jan  2 03:04:05 UTC 2026", "2026-01-02T03:04:05", ""),
        ("1767323045.25 up", "2026-01-02T03:04:05.250", "up"),
        ("[1767323045.250000] up", "2026-01-02T03:04:05.250", "up"),
    ],
)
def test_a_complete_stamp_tells_the_time_and_where_the_text_begins(
    raw: str, time: str | None, rest: str
) -> None:
    stamp = Clock().read(raw, 0)

    assert stamp is not None
    assert stamp.closed
    assert raw[stamp.end :] == rest
    assert stamp.time == pytest.approx(seconds(time or "2026-01-02T03:04:05.250"), abs=1e-5)


def test_only_one_blank_goes_with_the_stamp_so_that_indentation_stays() -> None:
    raw = '2026/01/02 03:04:05   File "fit.py", line 7'
    stamp = Clock().read(raw, 0)

    assert stamp is not None
    assert raw[stamp.end :] == '  File "fit.py", line 7'


@pytest.mark.parametrize(
    "raw",
    [
        "loss 2.31 at 2026-01-02 03:04:05",
        "2026-13-02 03:04:05 up",
        "2026-02-30 03:04:05 up",
        "2026-01-02 24:04:05 up",
        "2026-01-02_run7",
        "2026-01-02 3 files",
        "99:04:05 up",
        "10:11:12:13 up",
        "1:02:03 left",
        "00:12<01:33, 2.1s/it",
        "1714990760 tokens",
        "31/01 done",
        "[0.7313, 0.1646]",
        "[12.345] up",
        "Mar 3 of 5",
        "Fri night",
        "",
        "[",
        "2",
    ],
)
def test_what_only_looks_like_a_stamp_is_none(raw: str) -> None:
    assert Clock(2026).read(raw, 0) is None


def test_a_bracket_that_goes_on_behind_the_time_is_not_closed() -> None:
    stamp = Clock().read("[2026-01-02 03:04:05,250 E 97 101] gcs_client.h:12: lost", 0)

    assert stamp is not None
    assert stamp.time == seconds("2026-01-02T03:04:05.250")
    assert not stamp.closed


def test_seconds_since_the_machine_started_tell_no_time() -> None:
    raw = "[   81.204118] pcieport 0000:00:03.0: AER"
    stamp = Clock(2026).read(raw, 0)

    assert stamp is not None
    assert stamp.time is None
    assert raw[stamp.end :] == "pcieport 0000:00:03.0: AER"


@pytest.mark.parametrize(
    "raw",
    [
        "[E304 04:22:11.5 Watch.cpp:6]",
        "[E0304 04:22:11.5 Watch.cpp:6]",
        "E0304 04:22:11.5 9 a.py:6]",
    ],
)
def test_glog_writes_the_month_with_one_digit_or_two_and_the_day_with_two(raw: str) -> None:
    stamp = Clock(2026).glog(raw, 0)

    assert stamp is not None
    assert stamp.time == seconds("2026-03-04T04:22:11.500")


@pytest.mark.parametrize(
    "raw", ["[E304 Watch.cpp:6]", "Epoch 3 04:22:11", "I0318", "[INFO] 04:22:11"]
)
def test_what_only_begins_like_glog_is_none(raw: str) -> None:
    assert Clock(2026).glog(raw, 0) is None


def test_without_any_year_the_time_is_unknown() -> None:
    clock = Clock()

    for raw in ["Mar  3 04:12:09 up", "03-03 04:12:09 up", "[04:12:09] up"]:
        stamp = clock.read(raw, 0)
        assert stamp is not None
        assert stamp.time is None
        assert raw[stamp.end :] == "up"


def test_the_year_of_an_earlier_stamp_beats_the_default() -> None:
    clock = Clock(2020)
    clock.read("2026-03-03 04:12:00 up", 0)
    stamp = clock.read("[03-03 04:12:09] up", 0)

    assert stamp is not None
    assert stamp.time == seconds("2026-03-03T04:12:09")


def test_a_time_of_the_log_tells_the_year_of_the_stamps_before_it() -> None:
    near = seconds("2024-01-01T00:10:00")
    for raw, time in [
        ("[12-31 23:59:58] up", "2023-12-31T23:59:58"),
        ("Jan  1 00:00:03 up", "2024-01-01T00:00:03"),
    ]:
        stamp = Clock(2026, near).read(raw, 0)
        assert stamp is not None
        assert stamp.time == seconds(time)
    alone = Clock(2026, near).read("[00:00:03] up", 0)
    assert alone is not None
    assert alone.time is None


def test_a_stamp_without_year_follows_over_new_year_and_back() -> None:
    clock = Clock(2025)
    times = []
    for raw in ["Dec 31 23:59:58 up", "Jan  1 00:00:03 up", "Dec 31 23:59:59 up"]:
        stamp = clock.read(raw, 0)
        assert stamp is not None
        times.append(stamp.time)

    assert times == [
        seconds("2025-12-31T23:59:58"),
        seconds("2026-01-01T00:00:03"),
        seconds("2025-12-31T23:59:59"),
    ]


def test_a_clock_without_date_follows_over_midnight() -> None:
    clock = Clock()
    clock.read("2026-03-03 23:59:58 up", 0)
    stamp = clock.read("[00:00:02.5] up", 0)

    assert stamp is not None
    assert stamp.time == seconds("2026-03-04T00:00:02.500")


def test_a_date_that_its_year_lacks_has_no_time() -> None:
    stamp = Clock(2025).read("Feb 29 10:00:00 up", 0)

    assert stamp is not None
    assert stamp.time is None


@pytest.mark.parametrize(
    "raw",
    [
        "0001-01-01T00:00:00Z up",
        "[0001-01-01 00:00:00,000] up",
        "1970-01-01T00:00:00.000+00:00 up",
        "1980/01/01 00:00:00 up",
        "9999-12-31T23:59:59.999Z up",
        "01/01/0001 00:00:00 up",
    ],
)
def test_a_date_that_nobody_filled_in_tells_no_time(raw: str) -> None:
    clock = Clock()
    known = clock.read("2026-01-02 03:04:05 up", 0)
    stamp = clock.read(raw, 0)
    assert stamp
    assert (stamp.time, raw[stamp.end :]) == (None, "up")
    after = clock.read("[03:04:09] up", 0)
    assert known
    assert after
    assert (after.time or 0) - (known.time or 0) == 4
