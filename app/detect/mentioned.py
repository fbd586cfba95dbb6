"""Exceptions that a program names in its own last words, and of which no traceback is shown.

    CRITICAL | trainer.py:77 | giving up: KeyError('warmup')
    {"level": "error", "event": "job_failed", "error_type": "IndexError", "error": "no row 9"}

A line counts only if it also tells of an end, or is logged as an error; if it neither doubts nor
denies it, nor tells of another try; and if the name is no source code. That a process ended by it
makes a clue of it, less an echo: programs log what they get over, too.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from app.detect.doubt import speaks_against
from app.detect.exception import Kind, Named, Raised, is_wrapper, unwrap
from app.detect.level import level_at
from app.model import Line
from app.rulebook.compiled import Met

_LONGEST = 2000  # characters of a line that are read
_NAME = re.compile(
    r"(?<![\w./$-])(?P<name>(?:[A-Za-z_]\w{0,60}\.){0,8}_?[A-Z]\w{1,80}(?:Error|Exception))"
    r"(?:\((?P<inner>[A-Z]\w{1,80}(?:Error|Exception))\))?(?![\w/-]|\.\w)"
)
_CODE = re.compile(
    r"(?:\b(?:raise|except|catch|throws?|import|isinstance|instanceof|handles?|handling|expects?"
    r"|on|class|as|of type|new)|[(\[,|])\s*\Z"
)
_OF_TYPE = re.compile(r"(?i)\b(?:exception|error)s? of type\s*\Z|\bexcept(?:ion)? on\s*\Z")
# The process, or the whole job, went down.
_ENDED = re.compile(
    r"(?i)\b(?:un(?:caught|handled)|fatal|crash(?:ed|es|ing)?|abort(?:ed|s|ing)?|died|dead"
    r"|terminat(?:ed|es|ing)|exit(?:ed|s|ing)?|quit(?:s|ting)?|g[ai]v(?:e|es|ing) up|killed"
    r"|shut(?:s|ting)?[ -]?down|(?:can ?not|could not|unable to) (?:continue|go on|start)"
    r"|(?:job|run|training|trainer|train|worker|rank|process|task|actor|main|program|pipeline|stage"
    r"|experiment|trial|step|launch|script|node|attempt|session|workflow)[ _-]?\S{0,12}[ _-]"
    r"(?:has |was )?(?:failed|failure|error))\b"
)
_FAILED = re.compile(
    r"(?i)\b(?:fail(?:ed|s|ure|ing)?|raised|reason|traceback|exception|error(?:ed)?"
    r"|returned (?:non-?zero|[1-9]\d*))\b"
)
# "exc_value": "no row 9"   err="no row 9"   'message': 'no row 9'
_FIELD = re.compile(
    r"[\"']?\b(?:\w{0,20}(?:value|message|msg|detail|details|reason|error|err|text))[\"']?"
    r" ?[:=] ?(?P<quote>[\"'])(?P<said>(?:[^\"'\\]|\\.){1,1000})(?P=quote)"
)
_BEHIND_NAME = " \t:-\u2013'\">,;\\"
_ESCAPED = re.compile(r"\\+([\"'])")


def find_mentioned(
    lines: Sequence[Line], raised: Sequence[Raised], harmless: Callable[[Line], bool]
) -> Iterator[Raised]:
    """Find the exceptions that lines outside of all tracebacks name, one a line."""
    known = {(one.line.file, number) for one in raised for number in one.lines}
    for line in lines:
        if "Error" not in line.text and "Exception" not in line.text:
            continue
        if (line.file, line.number) in known or harmless(line):
            continue
        if (found := _read(line)) is not None:
            yield found


def _read(line: Line) -> Raised | None:
    text = line.text[:_LONGEST]
    for match in _NAME.finditer(text):
        before, behind = text[: match.start()], text[match.end() :]
        # cannot build the optimizer: no such group (KeyError)
        at_the_end = before.endswith("(") and behind.rstrip(" .\"'}") == ")"
        if _CODE.search(before) and not (at_the_end or _OF_TYPE.search(before)):
            continue
        said = before.rpartition(": ")[2][:-1].strip() if at_the_end else _message(before, behind)
        named = unwrap(Named(match[0], said, sure=True))
        if is_wrapper(named):
            continue
        kind = _kind(line, before, match[0], behind)
        return _raised(line, named, kind) if kind else None
    return None


def _kind(line: Line, before: str, name: str, behind: str) -> Kind | None:
    """Weigh the words round the name; None where they do not tell of a failure."""
    head = line.raw[: line.raw.find(line.text) + len(before)] if line.text in line.raw else before
    level = level_at(head)
    if level in ("warning", "info", "debug"):
        return None
    # What follows a name is what the exception says, and no count of it: `ValueError: no rows`.
    if speaks_against(Met({}, before, "", name + behind, "")):
        return None
    if _ENDED.search(before) or _ENDED.search(behind):
        return "told"
    alone = not before.strip("[](){}<>'\"!*# ")
    return "mentioned" if level == "error" or _FAILED.search(before) or alone else None


def _message(before: str, behind: str) -> str:
    """Give what is said of an exception: in brackets, behind a colon, or in a field beside it."""
    structured = before.lstrip().startswith("{") or before.rstrip().endswith(("=", '="', "='"))
    rest = behind.lstrip()
    if rest.startswith("(") and ")" in rest:
        return _ESCAPED.sub(r"\1", rest[1 : rest.rfind(")")]).strip("'\" ,")
    if structured and rest[:1] in ("'", '"', ",", "}", "") and (field := _FIELD.search(behind)):
        return field["said"]
    said = rest.lstrip(_BEHIND_NAME)
    if structured:
        said = re.split(r'(?<!\\)"', said, maxsplit=1)[0]
    return said.strip("'\" ")


def _raised(line: Line, named: Named, kind: Kind) -> Raised:
    return Raised(
        type=named.type,
        qualified=named.qualified,
        message=named.message,
        frames=(),
        line=line,
        first=line,
        last=line.number,
        lines=frozenset({line.number}),
        kind=kind,
    )
