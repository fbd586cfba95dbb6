import pytest

from app.read import told


def test_an_mlperf_record_tells_its_time_in_milliseconds() -> None:
    record = told.record(':::MLLOG {"namespace": "", "time_ms": 1767323045250, "key": "x"}', 0)

    assert record is not None
    assert record.time == 1767323045.25


@pytest.mark.parametrize(
    ("raw", "time"),
    [
        ('{"ts": 1767323045.25, "msg": "up"}', 1767323045.25),
        ('{"level": "info", "timestamp": 1767323045250}', 1767323045.25),
        ('{"time": 1767323045, "msg": "up"}', 1767323045.0),
    ],
)
def test_a_json_line_tells_its_time_in_seconds_or_milliseconds(raw: str, time: float) -> None:
    record = told.record(raw, 0)

    assert record is not None
    assert record.time == time


def test_a_json_line_tells_rank_and_host_and_where_its_stamp_begins() -> None:
    raw = '{"@timestamp": "2026-01-02T03:04:05Z", "rank": 12, "hostname": "cn-7", "msg": "up"}'
    record = told.record(raw, 0)

    assert record is not None
    assert (record.time, record.rank, record.host) == (None, 12, "cn-7")
    assert raw[record.stamp :].startswith("2026-01-02T03:04:05Z")


@pytest.mark.parametrize(
    ("field", "host"),
    [
        ('"node": "ip-10-4-0-3"', "ip-10-4-0-3"),
        ('"node_name": "gx-11.hall"', "gx-11.hall"),
        ('"node": "gx-11", "hostname": "gx-11.hall"', "gx-11.hall"),
        ('"node": 3', None),
        ('"node": "embedding"', None),
        ('"node_rank": "3"', None),
    ],
)
def test_a_json_line_names_its_host_as_a_node_too(field: str, host: str | None) -> None:
    record = told.record(f'{{"ts": 1767323045.25, {field}, "msg": "up"}}', 0)

    assert record is not None
    assert record.host == host


@pytest.mark.parametrize(
    "raw",
    ['{"loss": 2.1, "time": 12.5}', "{'ts': 1767323045.25}", '{"rank": 3, "world": 8}', "::: "],
)
def test_fields_without_a_clock_are_no_record(raw: str) -> None:
    assert told.record(raw, 0) is None


@pytest.mark.parametrize(
    ("raw", "rank"),
    [
        ("[INFO] [fit.train:58] [PID:512] [RANK:3] up", 3),
        ("[E ProcessGroupNCCL.cpp:916] [Rank 5] Watchdog caught", 5),
        ("[E304 04:22:11.5 Watch.cpp:6] [PG ID 0 PG GUID 0(default_pg) Rank 4] Watchdog", 4),
        ("[E304 04:22:11.5 Watch.cpp:6] [PG 0 Rank 4] Watchdog", 4),
        ("[INFO][RK7][main]: up", 7),
        ("[E304 04:22:11.5 Watch.cpp:6] [PG ID 12 PG GUID 9(TP_GROUP) Rank 4] Watchdog", None),
        ("[INFO] waiting for [Rank 3]", None),
        ("[INFO] [fit.py:3] rank 3 is late", None),
    ],
)
def test_only_brackets_at_the_head_name_the_rank(raw: str, rank: int | None) -> None:
    assert told.rank_in_brackets(raw, 0) == rank


@pytest.mark.parametrize(
    "raw",
    [
        "Current time: 2026-05-01 11:29:20 (running for 00:10:04.88)",
        'time="2026-05-01T11:29:20Z" level=info msg="up"',
        "ts=2026-05-01T11:29:20.358Z caller=loop.go:88",
    ],
)
def test_a_sentence_that_begins_with_its_clock_tells_the_time(raw: str) -> None:
    begin = told.clock_in_sentence(raw, 0)

    assert raw[begin : begin + 10] == "2026-05-01"


@pytest.mark.parametrize("raw", ["time=12.5 loss=2.1", "time: 0.22", "current time of a step"])
def test_a_duration_is_no_clock(raw: str) -> None:
    assert told.clock_in_sentence(raw, 0) == 0
