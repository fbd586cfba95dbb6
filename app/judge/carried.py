"""Carry a broken device over to the next attempt that could not use it.

A launcher starts a job again on the node whose GPU has just failed. The new processes say no more
than that the device is busy, unavailable or not there; what is to be fixed stands before.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.judge.printed import printer
from app.judge.verdict import judge
from app.located import Located, Suspect
from app.model import Detected, Finding, Job, LogFile, Verdict
from app.rulebook.rulebook import Rulebook

Judged = tuple[Detected, Verdict, Finding | None]

_BROKEN = ("ECCError", "NVLinkError", "NodeFailure")
# signals of a device that is busy, unavailable or not there; what breaks in a kernel is new
CANNOT_USE = frozenset(
    {
        "cuda_bad_device_number",
        "cuda_device_busy",
        "cuda_no_device",
        "cuda_set_up_wrongly",
        "cuda_unknown_error",
        "gaudi_not_acquired",
        "hip_no_device",
        "no_driver_for_the_gpu",
        "tpu_in_use",
        "tpu_not_accessible",
    }
)


def judge_after(
    before: Judged | None,
    detected: Detected,
    rulebook: Rulebook,
    files: Sequence[LogFile],
    job: Job,
) -> Judged:
    """Judge an attempt, with what broke its device in the attempt before, if it tells of that."""
    verdict, root = judge(detected, rulebook, files, job)
    if before is not None and (more := _with_carried(detected, root, before)) is not None:
        detected = more
        verdict, root = judge(detected, rulebook, files, job)
    return detected, verdict, root


def _with_carried(detected: Detected, root: Finding | None, before: Judged) -> Detected | None:
    """Add what broke the device in the attempt before; None where this one failed by itself.

    It counts only if no step was made since, and if it is the same place as far as both tell one.
    """
    earlier, _, broken = before
    if root is None or broken is None or detected.steps:
        return None
    if root.signal not in CANNOT_USE or broken.cause not in _BROKEN or broken.strength != "proof":
        return None
    own, other = _places(root, detected.located), _places(broken, earlier.located)
    if not any(_is_same(place, known) for place in own for known in other):
        return None
    return replace(detected, findings=(*detected.findings, broken))


def _places(finding: Finding, where: Located) -> list[Suspect]:
    return [printer(sighting, where) for sighting in finding.sightings]


def _is_same(one: Suspect, other: Suspect) -> bool:
    pairs = ((one.host, other.host), (one.rank, other.rank))
    told = [a == b for a, b in pairs if a is not None and b is not None]
    return bool(told) and all(told)
