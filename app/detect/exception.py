"""Exceptions by name: what a line calls them, and which of them only carry another one."""

import re
from dataclasses import dataclass
from typing import Literal

from app.model import Line

Kind = Literal["uncaught", "logged", "ignored", "reported", "bare", "told", "mentioned"]


@dataclass(frozen=True, slots=True)
class Raised:
    """One exception that left a traceback, or only its last line, with its chain resolved.

    `line` names the exception; for C++ it is the `what():` line. `first`, `last` and `lines` span
    the whole block with every chained traceback. Members of `cause_of` have no chain of their own.
    `code` is the source line of the innermost frame, where the traceback shows it. `from_the_top`
    says that the traceback begins where a program or a thread does, as what nobody caught does.
    What ended a thread alone is taken for what ended the process where nothing else did.
    """

    type: str
    qualified: str
    message: str
    frames: tuple[str, ...]
    line: Line
    first: Line
    last: int
    lines: frozenset[int]
    kind: Kind
    cause_of: tuple["Raised", ...] = ()
    code: str = ""
    from_the_top: bool = False
    ended_a_thread: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """An exception as its line names it; `sure` where the name alone tells that it is one."""

    qualified: str
    message: str
    sure: bool

    @property
    def type(self) -> str:
        """The class without its module path and without what it carries in brackets."""
        return self.qualified.partition("(")[0].rpartition(".")[2]


# ray.exceptions.RayTaskError(KeyError): ray::Loader.fetch() (pid=41, ip=10.0.0.3)
_NAMED = re.compile(
    r"(?P<name>[A-Za-z_]\w*+(?:\.(?:\w++|<locals>))*+)(?:\((?P<inner>[A-Za-z_][\w.]*+)\))?"
    r"(?:: ?(?P<message>.*)|)\Z",
    re.DOTALL,
)
_SURE = re.compile(r"_*[A-Z]\w*(?:Error|Exception|ExceptionGroup)\Z|Exception\Z")
_LIKELY = re.compile(r"_*[A-Z]\w*[a-z]\w*\Z")
_LONGEST_NAME = 200
_HOMES = frozenset({"exc", "error", "errors", "exception", "exceptions"})
_SURE_NAMES = frozenset(
    {
        "BackendCompilerFailed",
        "Empty",
        "GeneratorExit",
        "KeyboardInterrupt",
        "RemoteTraceback",
        "StopAsyncIteration",
        "StopIteration",
        "SystemExit",
        "TimeoutExpired",
        "UnfilteredStackTrace",
        "_RemoteTraceback",
    }
)
# struct.error: unpack requires a buffer of 8 bytes
_SMALL_NAMES = frozenset({"error", "timeout", "gaierror", "herror"})
# LustreError: 11-0: scratch-OST0003-osc: operation ost_read failed: rc = -107
_KERNEL_NAMES = frozenset({"LustreError", "LNetError"})

_LAUNCHER_REPORTS = frozenset(
    {
        "ActorDiedError",
        "ActorUnavailableError",
        "ChildFailedError",
        "EngineDeadError",
        "LocalRayletDiedError",
        "OwnerDiedError",
        "ProcessExitedException",
        "RayActorError",
        "SignalException",
        "WorkerCrashedError",
    }
)
_CARRIERS = frozenset(
    {
        "BackendCompilerFailed",
        "BaseExceptionGroup",
        "CheckpointException",
        "ExceptionGroup",
        "ExceptionWrapper",
        "InductorError",
        "InstantiationException",
        "InternalTorchDynamoError",
        "LoweringException",
        "ProcessRaisedException",
        "RayTaskError",
        "RemoteTraceback",
        "RetryError",
        "SimplifiedTraceback",
        "UnfilteredStackTrace",
        "_RemoteTraceback",
    }
)
_ERRANDS = frozenset({"CalledProcessError", "SubprocessError"})
# Flow control that surfaces only because something else went wrong.
_NO_NEWS = frozenset(
    {"CancelledError", "Empty", "Full", "GeneratorExit", "StopAsyncIteration", "StopIteration"}
)
_LAUNCHER_PATH = re.compile(
    r"accelerate/commands/|torch/distributed/(?:run|launch|launcher|elastic)\b"
    r"|deepspeed/launcher/|horovod/runner/|torchx/|submitit/"
)
# KeyError: Caught KeyError in DataLoader worker process 3.
_CAUGHT = re.compile(r"Caught (\w{1,120}) in ")
# tenacity.RetryError: RetryError[<Future at 0x7f state=finished raised ReadTimeout>]
_RAISED = re.compile(r"finished raised (\w{1,120})>")
# FileNotFoundError(2, 'No such file or directory')
_SPELLED = re.compile(r"([A-Z]\w{0,120}(?:Error|Exception))\((.*)\)\Z", re.DOTALL)


def read_name(text: str) -> Named | None:
    """Read `module.Name: message` from a text that starts with it."""
    if text.find(":", 0, _LONGEST_NAME + 2) < 0 and (len(text) > _LONGEST_NAME or " " in text):
        return None
    match = _NAMED.match(text)
    if match is None or len(name := match["name"]) > _LONGEST_NAME:
        return None
    home, _, last = name.rpartition(".")
    message = (match["message"] or "").strip()
    if not home and (single := _once(last)) != last:
        return Named(single, message.lstrip(": "), sure=True)
    if match["inner"]:
        return Named(f"{name}({match['inner']})", message, sure=True) if _sure(home, last) else None
    if not (_LIKELY.match(last) or (home and last in _SMALL_NAMES)):
        return None
    return Named(name, message, _sure(home, last))


def _sure(home: str, last: str) -> bool:
    if not home:
        return last in _SURE_NAMES or (
            last != "Error" and last not in _KERNEL_NAMES and _SURE.match(last) is not None
        )
    return (
        last in _SURE_NAMES
        or last in _SMALL_NAMES
        or _SURE.match(last) is not None
        or not _HOMES.isdisjoint(home.split("."))
    )


def _once(name: str) -> str:
    # Unlabelled ranks print at once: OSErrorOSErrorOSError: : : [Errno 28] No space left
    if name.count("Error") + name.count("Exception") < 2:
        return name
    period = (name + name).find(name, 1)
    return name[:period] if name[:period].endswith(("Error", "Exception")) else name


def carries(named: Named) -> bool:
    """Say whether what follows in its message may be the traceback of another exception."""
    return named.type in _CARRIERS


def is_wrapper(named: Named) -> bool:
    """Say whether an exception only passes on that something else failed.

    A command that failed is no wrapper by itself: it may be a compiler. See `is_report`.
    """
    kind = named.type
    return (
        kind in _CARRIERS
        or kind in _LAUNCHER_REPORTS
        or kind in _NO_NEWS
        or named.qualified.startswith("ray.exceptions.")
    )


def is_report(named: Named, frames: tuple[str, ...]) -> bool:
    """Say whether a launcher tells with it how one of its children ended."""
    kind = named.type
    return kind in _LAUNCHER_REPORTS or (
        kind in _ERRANDS and any(_LAUNCHER_PATH.search(frame) for frame in frames)
    )


def unwrap(named: Named) -> Named:
    """Name what a wrapper carries as far as its own text tells, else give it back."""
    inner = named.qualified.partition("(")[2].rstrip(")")
    if inner:
        return Named(inner, named.message, sure=True)
    if caught := _CAUGHT.match(named.message):
        return named if caught[1] == named.type else Named(caught[1], named.message, sure=True)
    if named.type not in _CARRIERS:
        return named
    if raised := _RAISED.search(named.message):
        return Named(raised[1], named.message, sure=True)
    for part in named.message.split("\n"):
        if (found := read_name(part.strip())) is not None and found.sure:
            return found
        if spelled := _SPELLED.match(part.strip()):
            return Named(spelled[1], spelled[2].strip("'\""), sure=True)
    return named
