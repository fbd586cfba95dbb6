"""Take from a verdict the few lines that show the failure, fit to be compared with others.

Two runs that fail alike differ in times, hosts, ranks, paths, numbers. All that is masked, so that
what is left is what the programs say; secrets go first of all. Codes that name the fault (Xid 79,
errno 28, signal 11) are numbers too, and stay.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from app.incident import Snippet
from app.masking import hidden
from app.model import Line, Verdict

_EVIDENCE = 1000  # characters of a line that a verdict shows
_OWN = 3
_ECHOES = 3
_TROUBLED = 6
_LOOKED_AT = 40
_LONGEST = 300
_FAR_ENOUGH = 10_000  # lines

_MASKS = (
    (re.compile(r"\b[a-z][a-z0-9+]{1,9}://[^\s'\"<>)]+"), " url "),
    # /opt/venv/lib/python3.11/site-packages/torch/nn/functional.py: the name of the file stays
    (re.compile(r"(?:~|\.{1,2})?(?:/[\w.+@%=~-]+)+/(?=[\w.+@%=~-])|(?:/[\w.+@%=~-]+)+/"), " /"),
    (re.compile(r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"), "#"),
    (re.compile(r"(?i)\b0x[0-9a-f]+\b|\b[0-9a-f]{2}(?:[:-][0-9a-f]{2}){2,}\b"), "#"),
    (re.compile(r"\b(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z0-9_-]{20,}\b"), "#"),  # keys, ids
    (re.compile(r"(?i)\b(?=[a-f]*\d)[0-9a-f]{6,}\b"), "#"),
    (re.compile(r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b,?"), ""),
    (re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b(?= +\d)"), ""),
)
_NUMBER = re.compile(
    # kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1203, GPU has fallen off the bus
    r"(?P<xid>\bS?Xid) ?\(PCI:[^)]*\): ?(?P<number>\d{1,5})\b"
    # [Errno 28] No space left on device · exit code 137 · exitcode: -9 · Signal 11 · rc=2
    r"|(?P<code>\b(?:errno|exit ?code|signal|error code|vendor err|rc)[ :=(]{1,3}-?\d{1,3})\b"
    r"|[-+]?\d[\d.,:_]*(?:e[-+]?\d+)?",
    re.IGNORECASE,
)
_MANY = re.compile(r"#[#\s:.,TZ/+-]*#Z?")
_TROUBLE = re.compile(
    r"(?i)error|fail|exception|fatal|abort|kill|terminat|time(?:d )?-?out|refused|denied|cannot|"
    r"unable|not found|invalid|illegal|panic|critical|unreachable|unexpected|lost|corrupt|no such|"
    r"dead|died|crash|broken|exceed|missing|mismatch|evict|preempt|cancel|signal|\bnan\b|out of"
)
# KeyError: 'labels' · NCCL WARN Cuda failure · kernel: NVRM: Xid · PANIC: ...
_NAMED = re.compile(r"\b\w*(?:Error|Exception|Fault)\b\W+\w|\bXid\b|(?i:\bfatal|\bpanic|\bwarn )")
# ChildFailedError · srun: error: n1: task 3: Exited with exit code 1 · error_file: <N/A>
# ncclUnhandledCudaError: Call to CUDA function failed.
_REPORT = re.compile(
    r"^nccl\w+Error:|ChildFailedError|error_file|first observed failure|NO_OTHER_FAILURES"
    r"|To enable traceback"
    r"|(?i:^srun|slurmstepd|failures:|above exception|killing subprocess|sending process)"
)
# frame #3: c10::Error::Error(c10::SourceLocation, ...) + 0x96 (0x7f... in /libc10.so)
_CODE_OF_TRACEBACK = re.compile(
    r"\s*(?:File \"|raise \w|\^+|return |except |frame #\d|#\d+ +0x|Exception raised from )"
)


def snippet(
    verdict: Verdict, lines: Sequence[Line], but: Collection[tuple[int, int]] = ()
) -> Snippet:
    """Take the evidence of the root and a few echoes; without any, what the log complains of.

    `lines` are the kept lines of the attempt that was judged; `but` are places, by file and line,
    that are known to be consequences.
    """
    hosts = _hosts(verdict, lines)
    if verdict.primary.strength in (None, "echo"):
        unexplained = [line for line in lines if (line.file, line.number) not in but]
        return Snippet(_distinct(complaints(unexplained), hosts, _TROUBLED))
    message = {(line.number, line.raw[:_EVIDENCE]): line.text for line in lines}
    told = [(item.why, message.get((item.line, item.text), item.text)) for item in verdict.evidence]
    by_others = {f"{item.cause}, explained by {item.by}" for item in verdict.explained}
    own = [text for why, text in told if why not in by_others | {"context"}]
    echoes = [text for why, text in told if why in by_others]
    first = _distinct(own, hosts, _OWN)
    return Snippet(tuple(dict.fromkeys((*first, *_distinct(echoes, hosts, _ECHOES)))))


def with_quotes(told: Snippet, quotes: Iterable[str]) -> Snippet:
    """Put before it what a model quoted, which may be all that shows a failure no rule knows."""
    return Snippet(tuple(dict.fromkeys((*_distinct(quotes, (), _OWN), *told.lines))))


def complaints(lines: Sequence[Line]) -> list[str]:
    """Give the lines that speak of trouble, one of each kind: what says most first, then the last.

    Launchers have the last word on most logs and say the same of every failure, so a line that
    names an exception or a fault goes before one that only says that something failed.
    """
    kinds: dict[str, str] = {}
    for line in reversed(lines[-_FAR_ENOUGH:]):
        if _TROUBLE.search(line.text) and not _CODE_OF_TRACEBACK.match(line.text):
            kinds.setdefault(masked(line.text), line.text)
        if len(kinds) == _LOOKED_AT:
            break
    return sorted(kinds.values(), key=_says_little)[:_TROUBLED]


def tells(snippet: Snippet) -> bool:
    """Say whether its first line names an exception or a fault; else all failures look like it."""
    return bool(snippet.lines) and not _says_little(snippet.lines[0])


def _says_little(text: str) -> int:
    if _REPORT.search(text):
        return 2
    return 0 if _NAMED.search(text) else 1


def masked(text: str, hosts: Iterable[str] = ()) -> str:
    """Mask what differs from run to run in a line; `hosts` are names known to be hosts."""
    text = hidden(text[: 3 * _LONGEST]).text
    for host in (host for host in hosts if host in text):
        text = re.sub(rf"(?<![\w-]){re.escape(host)}(?![\w-])", " host ", text)
    for pattern, name in _MASKS:
        text = pattern.sub(name, text)
    text = _MANY.sub("#", _NUMBER.sub(_code_or_mask, text))
    return " ".join(text.split())[:_LONGEST]


def _hosts(verdict: Verdict, lines: Sequence[Line]) -> tuple[str, ...]:
    """Collect the names of hosts, the longest first."""
    seen = verdict.primary.first_seen
    known = {line.host for line in lines[:_FAR_ENOUGH]} | {item.host for item in verdict.suspects}
    known |= {seen.host} if seen else set()
    return tuple(sorted((name for name in known if name), key=lambda name: (-len(name), name)))


def _code_or_mask(found: re.Match[str]) -> str:
    if found["xid"]:
        return f"{found['xid']} {found['number']}"
    return found["code"] or "#"


def _distinct(texts: Iterable[str], hosts: Sequence[str], most: int) -> tuple[str, ...]:
    spelt = (masked(text, hosts) for text in texts)
    return tuple(dict.fromkeys(text for text in spelt if text))[:most]


def of_text(text: str) -> Snippet:
    """Make a snippet of what a person typed or pasted: its lines, masked alike."""
    return Snippet(_distinct(text.splitlines(), (), _TROUBLED))
