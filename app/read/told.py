"""Read what a message says of its own printer: lines whose clock or rank is part of the text.

Nothing of it is cut away, since it stands amid what the message has to say.
"""

import re
from typing import NamedTuple

# {"ts": 1733900425.176, "rank": 3, "host": "node-7"   {"timestamp": "2026-03-03T04:12:09Z"
_JSON_TIME = re.compile(
    r'"(?:ts|time|@?timestamp|asctime|datetime)": ?"?'
    r'(?:(1[3-9]\d{8})(\d{3}|\.\d+)?[,"}]|(?=\d{4}-))'
)
_JSON_RANK = re.compile(r'"(?:global_)?rank": ?(\d{1,6})[,}]')
_JSON_HOST = re.compile(r'"host(?:_?name)?": ?"([\w.-]{1,63})"')
# {"ts": …, "pod": "train-worker-0", "node": "ip-10-0-0-1"; elsewhere a node may be one of a graph
_JSON_NODE = re.compile(r'"(?:k8s_)?node(?:_?name)?": ?"((?=[\w.-]*\d)[\w.-]{1,63})"')
# :::MLLOG {"namespace": "", "time_ms": 1714990760344,
_MLLOG_TIME = re.compile(r'"time_ms": ?(1[3-9]\d{11})\b')

# slurmstepd: error: *** JOB 4711 ON node-3 CANCELLED AT 2026-03-03T04:12:09 DUE TO TIME LIMIT ***
# STARTING TIMING RUN AT 2023-09-24 03:13:48 PM   submitit INFO (2022-08-11 02:06:10,801) -
# Current time: 2026-05-01 11:29:20 (running for 00:10:04.88)   Timestamp: 2026-05-01T11:29:20
# time="2026-05-01T11:29:20Z" level=info msg="step 10"   ts=2026-05-01T11:29:20.358Z caller=a.go:1
# EI0002: 2026-05-01-11:29:20.358.410 The wait execution of the Notify register times out
_SENTENCE = re.compile(
    r"(?:slurmstepd(?:-[\w.-]{1,62})?: error: \*\*\* (?:JOB|STEP) [^*]{1,160} AT "
    r"|(?:STARTING|ENDING) TIMING RUN AT |(?:[Cc]urrent [Tt]ime|[Tt]imestamp): +"
    r"|(?:ts|time|timestamp)=\"?|submitit [A-Z]{4,8} |E[A-Z]\d{4}: )(?=\(?\d{4}-)"
)
# [NeMo W 2024-05-19 …]   [INFO|2025-03-14 …]   [INFO|trainer.py:1723] 2023-12-13 …
# [PID: 389] 2026-05-01-…   [after the model is built] datetime: 2024-02-04 …
_BRACKET = re.compile(
    r"\[(?:NeMo [A-Z] |[A-Z]{4,8}\|(?:[\w.<>-]{1,60}:\d{1,6}\] )?|PID: \d{1,8}\] "
    r"|[^\[\]]{1,120}\] datetime: )(?=\d)"
)

# [INFO] [axolotl.train:58] [PID:512] [RANK:3]   [E ProcessGroupNCCL.cpp:916] [Rank 1]
# [PG ID 0 PG GUID 0(default_pg) Rank 4]: in other groups the number is not the job's rank
_RANK = re.compile(
    r"(?:\[[^\[\]]{1,120}\] ?)?(?:\[[^\[\]]{1,80}\] ?)?(?:\[[^\[\]]{1,80}\] ?)?"
    r"\[(?:(?:RANK|[Rr]ank|RK)[ :=]{0,2}|PG (?:ID )?0\b[^\[\]]{0,60} Rank )(\d{1,6})\]"
)
_MAY_SAY_RANK = re.compile(r"R(?:ank|ANK|K)[ :=]?\d|\[rank")
# [ERROR] 2026-05-01-10:59:14 (PID:389, Device:1, RankID:1) ERR00100
_RANK_ID = re.compile(r"\(PID:\d+, Device:\d+, RankID:(\d+)\)")

_RECORD_HEAD = 400


class Record(NamedTuple):
    """What a line of fields says; its clock is either read or begins at `stamp`."""

    time: float | None
    stamp: int
    rank: int | None = None
    host: str | None = None


def record(raw: str, at: int) -> Record | None:
    """Read a JSON object or an MLPerf record that begins at `at`, if it has a clock."""
    end = at + _RECORD_HEAD
    if raw.startswith(":::MLLOG", at):
        met = _MLLOG_TIME.search(raw, at, end)
        return met and Record(int(met[1]) / 1000, 0)
    if not raw.startswith('{"', at):
        return None
    met = _JSON_TIME.search(raw, at, end)
    if met is None:
        return None
    rank = _JSON_RANK.search(raw, at, end)
    host = _JSON_HOST.search(raw, at, end) or _JSON_NODE.search(raw, at, end)
    return Record(
        _since_epoch(met[1], met[2] or "") if met[1] else None,
        met.end(),
        int(rank[1]) if rank else None,
        host[1] if host else None,
    )


def clock_in_sentence(raw: str, at: int) -> int:
    """Return where the clock begins that a known sentence names, 0 if there is none."""
    met = _SENTENCE.match(raw, at)
    return met.end() if met else 0


def clock_in_bracket(raw: str, at: int) -> int:
    """Return where the clock begins that stands in or behind a logger's bracket, 0 if none does."""
    met = _BRACKET.match(raw, at)
    return met.end() if met else 0


def rank_in_brackets(raw: str, at: int) -> int | None:
    """Return the rank that the brackets at the head of a message name."""
    if _MAY_SAY_RANK.search(raw, at, at + 250) is None:
        return None
    met = _RANK.match(raw, at)
    return int(met[1]) if met else None


def rank_of_ascend(raw: str, at: int) -> int | None:
    """Return the rank that an Ascend error names behind its level."""
    met = _RANK_ID.search(raw, at, at + 80)
    return int(met[1]) if met else None


def _since_epoch(seconds: str, part: str) -> float:
    if part.startswith("."):
        return float(seconds + part)
    return int(seconds + part) / 1000 if part else float(seconds)
