"""Where the message of an exception ends.

Python prints a message as it is, over as many lines as it has; nothing marks its end. Lines go on
with it until one looks as if somebody else had begun to speak: a stamp, a level, a launcher, a rule
of dashes. After an empty line (or where lines are missing) only indented ones still belong to it.
"""

import re

from app.detect.block import Block
from app.detect.exception import carries
from app.model import Line

_MOST_LINES = 40
_SAME_MOMENT_SECONDS = 1.0

# Their messages are a repr or a short sentence; what follows is not theirs.
_ONE_LINERS = frozenset(
    {
        "AttributeError",
        "BlockingIOError",
        "BrokenPipeError",
        "ConnectionError",
        "ConnectionRefusedError",
        "ConnectionResetError",
        "EOFError",
        "FileExistsError",
        "FileNotFoundError",
        "IOError",
        "IndentationError",
        "IndexError",
        "IsADirectoryError",
        "KeyError",
        "KeyboardInterrupt",
        "ModuleNotFoundError",
        "NameError",
        "NotADirectoryError",
        "OSError",
        "PermissionError",
        "RecursionError",
        "StopIteration",
        "SyntaxError",
        "SystemExit",
        "TabError",
        "TimeoutError",
        "TimeoutExpired",
        "TypeError",
        "UnboundLocalError",
        "UnicodeDecodeError",
        "ZeroDivisionError",
    }
)
# [W419 00:09:29.372737425 ProcessGroupNCCL.cpp:1524] Warning: destroy_process_group() …
# slurmstepd: error: *** STEP 4711.0 ON gpu-12 CANCELLED AT 2026-03-04T11:12:13 ***
# /opt/conda/lib/python3.10/multiprocessing/resource_tracker.py:224: UserWarning: ...
_SOMEBODY_ELSE = re.compile(
    r"[\[<(]*\d{4}[-/.]\d\d[-/.]\d\d|[\[<(]*\d\d:\d\d:\d\d|\[?[IWEFC]\d{3,4} \d|\[\d\d/\d\d"
    r"|\[ *\d{1,9}\.\d{3,9}\] |\[[\w.-]{1,64}:\d{1,9}(?: *:\d{1,9}){0,2}\] "
    r"|[\[<(]*(?:INFO|WARN(?:ING)?|ERROR|DEBUG|CRITICAL|FATAL|NOTICE|info|warning|error)[\])>: |]"
    r"|\[[IWEFC] [\w.]{1,60}:\d{1,6}\] |\[(?:rank|default)?\d+\]|\S{1,300}:\d{1,6}: \w*Warning: "
    r"|[a-z][a-z0-9_./-]{1,60}(?:\[\d{1,9}\])?: [^ ]|NVRM: |[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
    r"|[./~]\S{0,300}: line \d+: "
    r"|\++ |\$ |[=*#~_-]{8,}|\*\*\* |\s*\d{1,3}%\||:::MLLOG|\S+ NCCL (?:INFO|WARN)"
    r"|Set the environment variable HYDRA_FULL_ERROR|Process \w+-\d+|Killing subprocess|Exiting"
    r"|(?:\w{1,20} ){0,2}(?:[Ee]poch|[Ss]tep|[Ii]ter(?:ation)?)[ :\[=#]+\d|Primary job +terminated"
    r"|Aborted\b|Killed\b|Terminated\b|Segmentation fault|Fatal Python error"
    r"|(?:Current thread|Thread) 0x|(?:real|user|sys)\s+\d"
    # The kernel, a file system or a batch system has the word.
    r"|(?:Memory cgroup o|O)ut of memory: Kill|oom-kill:|oom_reaper: |Killed process \d"
    r"|\w{1,30} invoked oom-killer|watchdog: BUG|INFO: task |pcieport |Lustre(?:Error)?: "
    r"|nfs: server |TERM_[A-Z]"
)
# Exception raised from query at ../aten/src/ATen/cuda/CUDAEvent.h:95 (most recent call first):
#   4%|▍         | 138/3402 [33:11<13:05:41, 14.44s/it]
_BAR = re.compile(r"\d{1,3}%\|")
_NATIVE_STACK = re.compile(r"Exception raised from |frame #\d+: |C\+\+ CapturedTraceback|#\d+ ")
# -- Process 2 terminated with the following error:
_CARRIED = ("-- Process ", "ray::")


def continues(block: Block, line: Line, text: str, indent: int, *, adjacent: bool) -> bool:
    """Say whether a line still belongs to the message of a block.

    `adjacent` is False where lines may be missing between it and the line before.
    """
    named, spoken = block.named, block.line
    if named is None or spoken is None:
        return False
    if not _same_moment(spoken.time, line.time):
        return False
    body = text.lstrip()
    further_in = indent > block.base and not _BAR.match(body)
    if _NATIVE_STACK.match(body):
        return True
    if body.startswith(_CARRIED):
        return not named.message or carries(named)
    if block.blank or not adjacent:
        return further_in and not _is_said(block)
    if indent < block.base or _is_said(block) or len(block.message) >= _MOST_LINES:
        return False
    return further_in or not interrupts(body)


def interrupts(body: str) -> bool:
    """Say whether a line looks as if somebody else than the exception spoke."""
    return _SOMEBODY_ELSE.match(body) is not None


def counts_for_message(text: str) -> bool:
    """Say whether a line that belongs to a message also tells something."""
    return not text.lstrip().startswith("frame #")


def _is_said(block: Block) -> bool:
    # In a box the message may be wrapped, and a colon at its end promises more:
    # TypeError: forward(): incompatible function arguments. The following are supported:
    if block.boxed or block.named is None or block.named.message.endswith(":"):
        return False
    return block.named.type in _ONE_LINERS


def _same_moment(spoken: float | None, now: float | None) -> bool:
    if now is None:
        return True
    return spoken is not None and abs(now - spoken) < _SAME_MOMENT_SECONDS
