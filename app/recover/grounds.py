"""Which action the grounds bear: softened where they are weak, hardened where the run shows more.

What the rules advise holds for a cause as it mostly is. Nothing is cordoned on a warning, nor while
a bug is as sure as the fault of a machine; a GPU that failed for several processes is cordoned
even where one failure alone would not do.
"""

from collections.abc import Mapping, Sequence

from app.located import pci_address
from app.model import Action, Finding, Verdict
from app.recover.again import bug_beside, ended_from_outside_too
from app.recover.course import HARDWARE, Course
from app.recover.targets import is_borne_out
from app.rulebook.rulebook import Rulebook

_EARLY_STEPS = 50  # warm-up of the learning rate and of an fp16 loss scale takes longer
_BROKEN_AT_ONCE = (
    "It went wrong within the first steps, so there is nothing to go back to: lower the learning"
    " rate, train in bf16, look for a division by zero or a broken sample."
)
_NEVER_WORKED = (
    "No step was ever made: look at interface names, GID index, partition keys, routes and firewall"
    " before you suspect a machine."
)
_TAKEN_OFF_TOO = (
    "The job was also taken off from outside, and whoever loses its nodes sees devices and links"
    " go: look at the node before anybody drains it, and resubmit if the job was preempted."
)
_BUG_TOO = (
    "{cause} (line {line}) was found too and is as sure, so no node is taken out for it: look at"
    " that first, and drain the node only if it shows the fault by itself."
)
_MET_BY_MOST = (
    "Most ranks met it before the first step, and so many GPUs do not fail at once: see that each"
    " process takes a GPU of its own (`torch.cuda.set_device(local_rank)`, CUDA_VISIBLE_DEVICES),"
    " that no other job holds them, and whether `nvidia-smi -q -d COMPUTE` says exclusive mode."
)
_DRIVER_TOO = "The system log of {hosts} tells of the same fault."
_BORNE_OUT = "The driver's warning was followed by what such a fault leads to."
_OF_LATE_RANKS: Mapping[str, tuple[Action, tuple[str, ...]]] = {
    "another collective": (
        "fix_code",
        (
            "A rank was in another collective than the rest: find the branch that it alone takes"
            " (data that end earlier there, evaluation or saving on some ranks only, a condition"
            " on the rank); let all ranks make the same calls, or use a `join` for uneven data.",
        ),
    ),
    "evaluation": (
        "fix_code",
        (
            "One rank evaluated alone while the others waited: let all ranks do it, or let the"
            " others wait at a barrier of a group with a longer timeout.",
        ),
    ),
    "preparation": (
        "fix_config",
        (
            "One rank prepared data alone for longer than the timeout: prepare them before the"
            " job, or raise the timeout (`ddp_timeout`, `init_process_group(timeout=...)`).",
        ),
    ),
}

Borne = tuple[Action, tuple[str, ...]]


def borne(
    action: Action,
    root: Finding,
    verdict: Verdict,
    course: Course,
    drivers: Sequence[str],
    rulebook: Rulebook,
) -> Borne:
    """Soften or harden the rules' action by what this log shows; give the reason as a step.

    `drivers` are hosts whose own hardware is said to have failed alike.
    """
    if action == "cordon_and_restart":
        return _of_a_node(root, verdict, course, rulebook)
    if root.cause == "NonFiniteLoss" and _began_at(root, course) < _EARLY_STEPS:
        return "fix_config", (_BROKEN_AT_ONCE,)
    if root.cause == "NCCLTimeoutError" and action == "restart" and course.awaited:
        return _OF_LATE_RANKS[course.awaited]
    if action != "restart" or root.cause not in HARDWARE:
        return action, ()
    if root.cause == "NetworkError" and not course.steps_made:
        return "fix_config", (_NEVER_WORKED,)
    if root.strength != "proof" or bug_beside(verdict, root, rulebook) is not None:
        return action, ()
    return _of_hardware(root, course, drivers)


def _of_a_node(root: Finding, verdict: Verdict, course: Course, rulebook: Rulebook) -> Borne:
    """Say whether a node may be taken out, as the rules advise."""
    if ended_from_outside_too(root, verdict):
        return "restart", (_TAKEN_OFF_TOO,)
    if (bug := bug_beside(verdict, root, rulebook)) is not None:
        return "restart", (_BUG_TOO.format(cause=bug.cause, line=bug.first_line),)
    if root.strength != "proof" and not is_borne_out(root, verdict, course.began_late):
        return "restart", ()
    if root.cause == "CUDAError" and course.met_by_most and not course.steps_made:
        return "fix_config", (_MET_BY_MOST,)
    return "cordon_and_restart", (_BORNE_OUT,) if root.strength != "proof" else ()


def _of_hardware(root: Finding, course: Course, drivers: Sequence[str]) -> Borne:
    """Say whether what is mostly restarted points at one node, for what else is known of it."""
    if root.cause != "NetworkError" and (again := _failed_again(root)):
        return "cordon_and_restart", (f"GPU {again} failed for several processes in turn.",)
    if course.repeated_on and not _is_of_the_program(root, course):
        before = f"{', '.join(course.repeated_on)} failed before, see the attempts."
        return "cordon_and_restart", (before,)
    if drivers:
        return "cordon_and_restart", (_DRIVER_TOO.format(hosts=", ".join(drivers)),)
    return "restart", ()


def _is_of_the_program(root: Finding, course: Course) -> bool:
    """Say whether a kernel broke as it had before, and just as far: so does a program, no GPU."""
    return root.cause == "CUDAError" and course.same_step


def _began_at(root: Finding, course: Course) -> int:
    """The step at which it went wrong, or how far training came."""
    told = root.sightings[0].facts.get("step", "")
    return min(int(told), course.steps_made) if told.isdecimal() else course.steps_made


def _failed_again(root: Finding) -> str | None:
    """Name the GPU that failed for more than one process, where the log shows that.

    Each host has a GPU at the same address.
    """
    processes: dict[tuple[str | None, str | int], set[str]] = {}
    for sighting in root.sightings:
        gpu, pid = sighting.facts.get("gpu"), sighting.facts.get("pid")
        if gpu is not None and pid is not None:
            met = processes.setdefault((sighting.line.host, pci_address(gpu) or gpu), set())
            met.add(pid)
            if len(met) > 1:
                return gpu
    return None
