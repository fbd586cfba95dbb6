"""Read what `scontrol show job` prints, and spell out what Slurm leaves short.

Slurm of before 23 hands its hooks the paths of logs as the user wrote them, `%x-%j.out`, and some
of its versions print them so too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

Record = Mapping[str, str]
# these may hold blanks and `=`, and end their line
_TO_THE_END = re.compile(
    r"(?:^\s+|\s)(JobName|Comment|AdminComment|StdOut|StdErr|WorkDir|Command)=(.*)"
)
_PAIR = re.compile(r"(\S+?)=(\S*)")
_PATTERN = re.compile(r"%(?:(%)|(\d*)([A-Za-z]))")
_NOTHING = ("", "(null)", "Unknown", "N/A", "None")
NO_TASK = "4294967294"  # NO_VAL of slurm.h, where a job is no task of an array
# TRES=…,gres/gpu=8 · gres/gpu:a100=8 · TresPerNode=gres:gpu:a100:8 · gres/gpu:8 · gres:gpu
_ALLOCATED = re.compile(r"gres/gpu=(\d+)")
_ALLOCATED_KIND = re.compile(r"gres/gpu:[^=,]+=(\d+)")
_ASKED = re.compile(r"gres[:/]gpu(?:[:/][A-Za-z][^:,=]*)?(?:[:=](\d+))?(?=,|$)")


def records(text: str) -> Sequence[Record]:
    """Read the records of one job, or of the parts of a heterogeneous one."""
    found: list[dict[str, str]] = []
    for line in text.splitlines():
        if line.startswith("JobId="):
            found.append({})
        if not found:
            continue
        rest = _TO_THE_END.search(line)
        pairs = _PAIR.findall(line[: rest.start()] if rest else line)
        for key, value in [*pairs, *([rest.groups()] if rest else [])]:
            if value.strip() not in _NOTHING:
                found[-1].setdefault(key, value.strip())
    return found


def gpus(record: Record, nodes: int) -> int:
    """Count the GPUs of a job, from what it was given or else from what it asked for."""
    given = record.get("AllocTRES") or record.get("TRES", "")
    if whole := _ALLOCATED.search(given):
        return int(whole[1])
    if kinds := _ALLOCATED_KIND.findall(given):
        return sum(map(int, kinds))
    if asked := _ASKED.search(record.get("TresPerNode", "")):
        return int(asked[1] or 1) * nodes
    asked = _ASKED.search(record.get("TresPerJob", ""))
    return int(asked[1] or 1) if asked else 0


def spelled_out(path: str, facts: Mapping[str, str]) -> str:
    """Fill the patterns of `sbatch --output` in, and make the path absolute."""
    task = facts.get("task", NO_TASK)
    short = facts.get("first_node", "").partition(".")[0]
    values = {
        "A": facts.get("array", facts["id"]), "a": task, "j": facts["id"], "J": facts["id"],
        "N": short, "n": "0", "s": "batch", "t": "0", "u": facts.get("user", ""),
        "x": facts.get("name", ""), "b": str(int(task) % 10),
    }  # fmt: skip

    def filled(found: re.Match[str]) -> str:
        if found[1]:
            return "%"
        value = values.get(found[3], found[0])
        return value.zfill(min(int(found[2] or 0), 10)) if value.isdigit() else value

    # a backslash anywhere turns patterns off, says `man sbatch`
    path = path.replace("\\", "") if "\\" in path else _PATTERN.sub(filled, path)
    return str(PurePosixPath(facts.get("work_dir", "/"), path))
