"""What a collector puts before every line of a program: `Mar 04 10:11:12 n7 train[88]: `.

Launchers, containers and shippers know nothing of what they carry, so that it stands before each
line of a file alike, but for its numbers. It is learned from how a file begins: what is the same
on every line tells nothing of any of them, but for its clock and its rank. Words of training or of
failure are never taken for it, nor is a part of a bracket. A level is, where the lines behind it
show that they were printed by somebody else.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from app.model import Prefix
from app.read.prefix import PrefixReader
from app.read.terminal import clean

_CLOCK = "\N{WATCH}"
_LOOKED_AT = 64 << 10  # bytes
_MOST_LINES = 400
_FEWEST_LINES = 12
_LONGEST = 160  # characters
_SHARE = 0.98  # of the lines; a shipper may have cut one
_ALIKE = 0.9  # of the texts behind numbers that change; more is a table or a metric
_VALUES = 0.6  # of the texts behind a word that begin with a number, which is its value
_VALUE = re.compile(r"\s*[-+(\[]?#")
_IN_PARTS = re.compile(r"[-+]?#(?:\.#)?(?:e[-+]?#)?")
_FEWEST_TEXTS = 3  # of which fewer are one message, told again and again
# step:   lr =   train
_NAMES_A_VALUE = re.compile(r"(?:^|[\s(\[{|,;])[^\W\d_][^\s\d#:=()\[\]{}|,;<>]*\s?[:=]?\s*$")
_IS_PARTED = re.compile(rf"[#{_CLOCK}]|[^\w\s]\s*$|\s\s$")
_TRIED = 3
_A_YEAR = 2000
_LOOK = 8
_CARRIED = 0.05
_STAMP = re.compile(
    r"(?:\d{4}[-/.]\d\d[-/.]\d\d[T ,_-]|(?:[A-Z][a-z]{2},? )?[A-Z][a-z]{2} [ \d]\d )?"
    r"\d\d:\d\d:\d\d(?:[.,]\d{1,12})?(?:Z|[+-]\d\d:?\d\d)?"
)
_NAMES = re.compile(rf"[\w#{_CLOCK}]|^>")
_NUMBER = re.compile(r"\d+")
_NO_NUMBER = re.compile(r"(?<![^\W_])(?:nan|inf(?:inity)?)(?![^\W_])", re.IGNORECASE)
_SPEAKS = re.compile(
    r"(?:step|iter(?:ation)?|epoch|batch|update|sample)s?\b[^a-z]{0,4}(?:#|$)|loss(?:es)?\b|"
    r"(?<![\w/-])#\s?/\s?#(?![\w/-])|#%|error|warn|fatal|"
    r"critical|exception|traceback|fail|kill|abort|nccl|xid|kernel|srun|slurm|mpirun|prte|torchrun|"
    r"kubelet|systemd|nvrm|refused|denied|unreachable|time-?out|timed out|preempt|evict|cancel|"
    rf"panic|segmentation|\boom\b|^(?-i:[WEF])# (?:{_CLOCK}|$)",
    re.IGNORECASE,
)
_LEVEL = re.compile(r"\b(?:INFO|DEBUG|NOTICE|TRACE|info|debug|notice)\b")
# what a program prints by itself:   File "a.py", line 3   [2026-03-04 …   INFO:a:b   [rank0]:
_OF_A_PROGRAM = re.compile(
    r"\s{2,}\S|Traceback |\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|[IWEF]\d{4} |\[rank|\[W\d|"
    r"\[?(?:INFO|WARNING|ERROR)\b|\S+:\d+:\d+ \[\d+\] NCCL"
)
_PAIRS = (("[", "]"), ("(", ")"), ("{", "}"), ("<", ">"))


@dataclass(frozen=True, slots=True)
class Envelope:
    """The form of what stands before each line."""

    form: re.Pattern[str]

    def end(self, raw: str) -> int:
        """Give where the text of a line begins, 0 where it came without the envelope."""
        found = self.form.match(raw)
        return found.end() if found else 0


def envelope(head: memoryview) -> Envelope | None:
    """Learn from the beginning of a file what stands before each of its lines; None if nothing."""
    text = bytes(head[:_LOOKED_AT]).decode("utf-8", "replace")
    raws = [piece for raw in text.split("\n")[:-1][:_MOST_LINES] for piece in clean(raw)[:1]]
    if len(raws) < _FEWEST_LINES:
        return None
    shapes = [_shape(raw) for raw in raws]
    models = {shapes[place * (len(shapes) - 1) // 4] for place in range(5)}
    cuts = {model[:end] for model in models for end in _cuts(model)}
    told = next(
        (cut for cut in sorted(cuts, key=len, reverse=True) if _holds(cut, shapes, raws)), None
    )
    return None if told is None else Envelope(_form(told))


def _shape(raw: str) -> str:
    return _NO_NUMBER.sub("#", _NUMBER.sub("#", _STAMP.sub(_CLOCK, raw[: 2 * _LONGEST])))


def _cuts(shape: str) -> Sequence[int]:
    """Give where an envelope may end: behind what is neither a letter nor a number."""
    most = min(len(shape), _LONGEST)
    return [
        end
        for end in range(1, most + 1)
        if not (shape[end - 1].isalnum() or shape[end - 1] in "#_-.,/\"'")
    ]


def _parted(cut: str, raws: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give the lines that begin so, each with what stands behind."""
    form = _form(cut)
    for raw in raws:
        if found := form.match(raw):
            yield raw, raw[found.end() :]


def _holds(cut: str, shapes: Sequence[str], raws: Sequence[str]) -> bool:
    if (
        not (_NAMES.search(cut) and _IS_PARTED.search(cut))
        or _SPEAKS.search(cut)
        or any(cut.count(a) > cut.count(b) for a, b in _PAIRS)
    ):
        return False
    bare = cut.rstrip()
    behind = [shape[len(cut) :] for shape in shapes if shape.startswith(cut)]
    blank = sum(shape == bare for shape in shapes)
    if len(behind) + blank < _SHARE * len(shapes) or not behind:
        return False
    parted = list(_parted(cut, raws))
    if _CLOCK in cut and any(_loses_its_clock(raw) for raw, _ in parted[:_TRIED]):
        return False
    if len({rest for _, rest in parted}) < _FEWEST_TEXTS:
        return False
    is_same = len({raw[: len(raw) - len(rest)] for raw, rest in parted}) == 1
    first = Counter(_IN_PARTS.sub("#", text)[:_LOOK] for text in behind)
    if not is_same and max(first.values()) > _ALIKE * len(behind):
        return False
    values = sum(_VALUE.match(text) is not None for text in behind)
    if _NAMES_A_VALUE.search(cut) and values > _VALUES * len(behind):
        return False
    carried = sum(_OF_A_PROGRAM.match(text.replace("#", "00")) is not None for text in behind)
    return not _LEVEL.search(cut) or carried >= max(2, _CARRIED * len(behind))


def _loses_its_clock(raw: str) -> bool:
    """Say whether a clock that could be read by itself cannot be behind what stands before it."""
    stamp = _STAMP.search(raw)
    own = PrefixReader(_A_YEAR).read(raw[stamp.start() :]).time if stamp else None
    return own is not None and PrefixReader(_A_YEAR).read(raw).time is None


def _form(cut: str) -> re.Pattern[str]:
    clocked = cut.rstrip(" ").split(_CLOCK)
    numbered = f"(?:{_STAMP.pattern})".join(
        r"\d+".join(re.escape(part) for part in text.split("#")) for text in clocked
    )
    blanks = len(cut) - len(cut.rstrip(" "))
    return re.compile(f"{numbered}(?: {{{blanks}}}|$)" if blanks else numbered)


def opened(
    read: Callable[[str], Prefix], outer: Callable[[str], Prefix], around: Envelope
) -> Callable[[str], Prefix]:
    """Make a reader of prefixes that reads an envelope first, and then what stands in it.

    The clock of the envelope counts where it has one, since all lines have it, and it is one.
    """

    def read_both(raw: str) -> Prefix:
        end, told = around.end(raw), outer(raw)
        if end <= told.end:
            return told
        own = read(raw[end:])
        return replace(
            own,
            end=end + own.end,
            rank=told.rank if own.rank is None else own.rank,
            host=own.host or told.host,
            time=own.time if told.time is None else told.time,
            stream=f"{told.stream} {own.stream}".strip(),
        )

    return read_both
