"""Which member of a chain of exceptions is the one to fix.

"The direct cause" is a statement by the program: the first one counts. "During handling" is only an
observation by Python, and covers two things. Where the handler itself raises (`except KeyError:
raise ConfigError("no such model")`) the second one says the same in better words. Where the handler
or a clean-up on the way out fails by itself, it is a consequence. Both are told apart by where the
second one was raised: the same function that caught the first, by a `raise`, or somewhere else.
A look-up that is caught where it failed is no failure at all but the first of two ways.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.detect.block import Block, Chain, Link
from app.detect.exception import Kind, Named, Raised, is_report, is_wrapper, unwrap
from app.detect.shape import HEADER
from app.model import Line

Member = tuple[Link, Block]

_MOST_OTHERS = 16
_MOST_CARRIED = 256
_CLEANUPS = frozenset({"__exit__", "__aexit__", "__del__", "close", "shutdown", "cleanup"})
# 2026-05-02 10:11:12,131 ERROR nanolm.checkpoint:88 - could not write step 500
_LEVEL = re.compile(
    r"(?:^|[\s\[\]|:(<-])(?:(?P<bad>ERROR|CRITICAL|FATAL|EXCEPTION)|(?P<mild>WARN(?:ING)?|INFO|DEBUG))"
    r"(?=[\s\]|:)>-]|$)|(?:^|[\s:\[])(?:(?P<ebad>[EF])|(?P<emild>[WI]))\d{3,4} \d\d:"
)
_TELLS_OF_FAILURE = re.compile(
    r"(?i)error|exception|fail|caught|traceback|unable|could ?n.t|cannot|retry|skipp|ignor"
    r"|fall(?:s|ing)? ?back|without|unavailable|(?:could|is|are) not|missing|instead"
)
_ENDS_THE_PROCESS = re.compile(r"(?i)\b(?:un|not )(?:caught|handled)\b")
_EXIT_CODE = re.compile(r"exit ?code", re.IGNORECASE)
# The interpreter calls these on its way, and prints what they raise.
_NOBODY_CALLS = frozenset({"__del__", "_run_finalizers", "_run_exitfuncs", "_exitfunc"})
_OUTERMOST = frozenset({"<module>", "_run_module_as_main", "_bootstrap", "_bootstrap_inner"})
_QUESTIONS = frozenset({"AttributeError", "ImportError", "KeyError", "ModuleNotFoundError"})
# /opt/venv/lib/python3.12/site-packages/wandb/sdk/lib/sock_client.py
_TRACKERS = re.compile(
    r"-packages/(?:wandb|mlflow|neptune|comet_ml|clearml|tensorboard|tensorboardX|swanlab|aim)/"
)
_HEAD_LOOKED_AT = 160
# Python prints what nobody caught at the start of a line; loggers align it with their message.
_INDENTED_BY_LOGGERS = 8


def resolve(chain: Chain) -> tuple[Raised, ...]:
    """Give the exceptions that a chain goes back to; one, unless it carries several."""
    members = _named(chain)
    if not members:
        return ()
    top = _is_from_the_top(chain, members)
    found = _origins(chain, members, _kind(chain, members))
    time = _recorded_at(chain)
    return tuple(
        replace(raised, from_the_top=top, line=_dated(raised.line, time)) for raised in found
    )


def _recorded_at(chain: Chain) -> float | None:
    """Give the time of the record of an error that a traceback without one was printed with."""
    record = chain.before[0] if chain.before else None
    if record is None or record.number != chain.members[0][1].first.number - 1:
        return None
    level = _LEVEL.search(record.raw[:_HEAD_LOOKED_AT])
    return record.time if level and (level["bad"] or level["ebad"]) else None


def _dated(line: Line, time: float | None) -> Line:
    return line if line.time is not None or time is None else replace(line, time=time)


def _named(chain: Chain) -> list[Member]:
    return [member for member in chain.members if member[1].named is not None]


def _origins(chain: Chain, members: Sequence[Member], kind: Kind) -> list[Raised]:
    chosen = _choose(members)
    block = members[chosen][1]
    if kind != "ignored" and block.named is not None and is_report(block.named, _frames(block)):
        kind = "reported"
    carried = [
        raised
        for nested in block.nested
        if (inner := _named(nested))
        for raised in _origins(nested, inner, kind)
    ][:_MOST_CARRIED]
    around = list(_inner_first(chain, but_within=block))
    others = tuple(
        _raised(other, kind, carries=True)
        for other in around
        if other.named is not None and (other is not block or carried)
    )
    if not carried:
        carried = [_raised(block, kind, carries=False)]
    first = chain.members[0][1].first
    numbers = frozenset(number for other in around for number in other.numbers)
    return [_within(raised, first, numbers, others) for raised in carried]


def _inner_first(chain: Chain, but_within: Block | None = None) -> Iterator[Block]:
    """Give every block of a chain, those that one carries before it; one may be left closed."""
    for _, block in chain.members:
        if block is not but_within:
            for nested in block.nested:
                yield from _inner_first(nested)
        yield block


def _within(
    raised: Raised, first: Line, numbers: frozenset[int], others: tuple[Raised, ...]
) -> Raised:
    """Spread an exception over the chain that it belongs to, whose other members it caused."""
    lines = raised.lines | numbers
    cause_of = (raised.cause_of + others)[:_MOST_OTHERS]
    return replace(raised, first=first, last=max(lines), lines=lines, cause_of=cause_of)


def _choose(members: Sequence[Member]) -> int:
    chosen = 0
    for index in range(1, len(members)):
        link, block = members[index]
        caught = members[index - 1][1]
        better = link == "handling" and (_says_it_better(block, caught) or _asked(caught, block))
        if better or _is_hollow(members[chosen][1]):
            chosen = index
    return chosen


def _is_hollow(block: Block) -> bool:
    """Say whether an exception only passes on another one that its text does not carry."""
    if block.named is None or _carries_any(block):
        return False
    return is_wrapper(block.named) or is_report(block.named, _frames(block))


def _carries_any(block: Block) -> bool:
    return any(member.named is not None for chain in block.nested for _, member in chain.members)


def _says_it_better(block: Block, caught: Block) -> bool:
    """Say whether a handler raised on purpose, in place of what it had caught."""
    if block.named is None or is_wrapper(block.named) or not block.message or not block.frames:
        return False
    path, _, function = block.again or block.frames[-1]
    by_itself = block.again is None and block.code and not block.code.startswith("raise")
    if function in _CLEANUPS or by_itself:
        return False
    return not caught.frames or _passed(caught, path, function)


def _asked(caught: Block, block: Block) -> bool:
    """Say whether a look-up that failed was a question, to which the handler has another answer.

    `try: return getattr(module, name)`, `except AttributeError: return import_module(name)`. It is
    caught where it rises. What encloses a whole program asks nothing.
    """
    if caught.named is None or caught.named.type not in _QUESTIONS or len(caught.frames) != 1:
        return False
    path, _, function = caught.frames[0]
    if caught.code.startswith("raise") or function in _OUTERMOST or function == "main":
        return False
    return _passed(block, path, function)


def _passed(block: Block, path: str, function: str) -> bool:
    return any(path == where and function == caller for where, _, caller in block.frames)


def _raised(block: Block, kind: Kind, *, carries: bool) -> Raised:
    named = block.named or Named("", "", sure=False)
    named = Named(named.qualified, "\n".join(block.message).strip(), named.sure)
    if not carries:
        named = unwrap(named)
    return Raised(
        type=named.type,
        qualified=named.qualified,
        message=named.message,
        frames=_frames(block),
        line=block.line or block.first,
        first=block.first,
        last=max(block.numbers),
        lines=frozenset(block.numbers),
        kind=kind,
        code=block.code,
    )


def _frames(block: Block) -> tuple[str, ...]:
    return tuple(":".join(frame) for frame in block.frames)


def _kind(chain: Chain, members: Sequence[Member]) -> Kind:
    if chain.mark == "ignored" or chain.mark == "reported" or chain.mark == "logged":
        return chain.mark
    if chain.mark == "thread":
        return "ignored" if _only_reported(members[-1][1]) else "logged"
    outermost = members[-1][1].frames[:1]
    if outermost and outermost[0][2] in _NOBODY_CALLS:
        return "ignored"
    block = chain.members[0][1]
    if block.headed and block.base >= _INDENTED_BY_LOGGERS and not block.boxed:
        return "logged"
    if _is_behind_logger(block.first) or _is_logged(chain.before, members[-1][1]):
        return "logged"
    if len(members) == 1 and not (block.headed or block.frames or block.nested):
        return "bare"
    return "uncaught"


def _only_reported(block: Block) -> bool:
    """Say whether a tracker raised it, which a job can do without."""
    return bool(block.frames) and _TRACKERS.search(block.frames[-1][0]) is not None


def _is_from_the_top(chain: Chain, members: Sequence[Member]) -> bool:
    """Say whether a chain begins where a program does: nobody on the way caught it."""
    block = members[-1][1]
    if block.frames:
        return block.frames[0][2] in _OUTERMOST
    return chain.members[0][1].headed


def _is_behind_logger(line: Line) -> bool:
    position = line.raw.find(HEADER)
    return position > 0 and _LEVEL.search(line.raw[max(0, position - 300) : position]) is not None


def _is_logged(before: Sequence[Line], outermost: Block) -> bool:
    """Say whether a line before a traceback is the log record that it was printed with.

    A crash follows any line, most often a harmless one, and it begins at the module. What was
    caught begins at the function that caught it; after a mild line that must tell of a failure.
    """
    if not outermost.frames or outermost.frames[0][2] in _OUTERMOST:
        return False
    levels = ((line, _LEVEL.search(line.raw[:_HEAD_LOOKED_AT])) for line in before)
    record, level = next(((line, found) for line, found in levels if found), (None, None))
    if record is None or level is None or _EXIT_CODE.search(record.raw):
        return False
    told = record.raw[level.end() :]
    if _ENDS_THE_PROCESS.search(told):
        return False
    return bool(level["bad"] or level["ebad"] or _TELLS_OF_FAILURE.search(told))
