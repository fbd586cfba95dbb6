"""Turn what a program wrote to a terminal into the text that a person would have seen.

A line of a log holds every state of a progress bar, parted by carriage returns or by nothing at
all, colours, and erased characters. Only the last state of a bar says anything; but between two
states, and glued to the tail of the last, stands the traceback that matters.
"""

import re
from collections.abc import Iterator, Sequence

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x9b]")
# ESC[1;31m   ESC[2K   and a code that the end of the line cut off: ESC[3
_CODE = re.compile(r"(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~]?)")
# ESC]0;titleBEL   ESC]8;;urlESC\   ESC(B   ESC=
_OTHER_CODE = re.compile(
    r"\x1b\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|\x1b[()][0-9A-Za-z]|\x1b[\]=>78cM]?"
)
# ESC[A   ESC[1G   ESC[2K: the cursor leaves the text, which is then drawn anew
_REDRAWS = frozenset("ABFGHJ")
# 11/60 [==>...] BSBSBSBSBSBSBSBSBSBS 12/60 [==>...]: Keras goes back to draw its bar anew
_GO_BACK = re.compile(r"\x08{8,}")
_SILENT = dict.fromkeys([*range(0x09), *range(0x0B, 0x20), 0x7F])

# Epoch 3:  40%|████      | 4/10 [00:01<00:02, 2.66it/s, loss=[2.1]]   1270it [00:41, 30.9it/s]
_BAR = re.compile(
    r"(?:\d{1,3}%\|[^|\[\]]*\|[^\[\]|]{0,60}|\d[kMG]?(?:it| examples) )"
    r"\[[^\[\]]{0,400}(?:\[[^\[\]]{0,200}\][^\[\]]{0,200})?\]"
)
# what some bars show behind their bracket:  , loss=2.31   | loss: 2.31
_METRICS = re.compile(r"[ ,|]+[\w/ ]{1,40}[=:] ?[-+\d.]")
# Downloading:  34%   12/60 [=====>....] - ETA: 3s   12.3/45.6 MB
_DRAWN = re.compile(
    r"\d{1,3}%|\[[=>.\-#]{6,}\]|[━█]{4,}|(?<![\d.])[\d.]+/[\d.]+ ?[kMG]i?B\b|\bETA\b"
)
_NUMBER = re.compile(r"[\d.]+")


def clean(raw: str) -> tuple[str, ...]:
    """Return the texts that a terminal would have left standing, in order.

    The states of a bar collapse to the last; a text glued to a bar is a piece of its own. Blank
    pieces are left out, so a blank line gives none.
    """
    if "#033[" in raw:  # how CloudWatch shows an escape
        raw = raw.replace("#033[", "\x1b[")
    if raw.isprintable() or _CONTROL.search(raw) is None:
        if "%|" not in raw and "it [" not in raw and "s [" not in raw:
            return (raw,) if raw and not raw.isspace() else ()
        states = [raw]
    else:
        states = [_erase(state) for state in _plain(raw).split("\r")]
    pieces = [piece for state in states for piece in _unglue(state) if not piece.isspace()]
    return tuple(pieces) if len(pieces) < 2 else _collapse(pieces)


def _plain(raw: str) -> str:
    """Take the codes out; what draws the text anew becomes a carriage return."""
    if "\x1b" in raw or "\x9b" in raw:
        raw = _OTHER_CODE.sub("", _CODE.sub(_shown, raw))
    return _GO_BACK.sub("\r", raw)


def _shown(code: re.Match[str]) -> str:
    if code[2] in _REDRAWS or (code[2] == "K" and code[1] in ("1", "2")):
        return "\r"
    return " " if code[2] == "C" else ""


def _erase(state: str) -> str:
    """Let each backspace move back, so that what follows is written over."""
    if "\b" in state:
        shown: list[str] = []
        cursor = 0
        for char in state:
            if char == "\b":
                cursor = max(0, cursor - 1)
            else:
                shown[cursor : cursor + 1] = char
                cursor += 1
        state = "".join(shown)
    return state.translate(_SILENT) if _CONTROL.search(state) else state


def _unglue(state: str) -> Iterator[str]:
    """Cut behind each bar, unless what follows belongs to it."""
    start = 0
    for bar in _BAR.finditer(state):
        if not _METRICS.match(state, bar.end()):
            yield state[start : bar.end()]
            start = bar.end()
    if start < len(state):
        yield state[start:]


def _collapse(pieces: Sequence[str]) -> tuple[str, ...]:
    """Keep the last state of each bar, told apart by its title, and all that is no bar."""
    last: dict[str, int] = {}
    titles = [_title(piece) for piece in pieces]
    for place, title in enumerate(titles):
        if title is not None:
            last[title] = place
    return tuple(
        piece
        for place, (piece, title) in enumerate(zip(pieces, titles, strict=True))
        if title is None or last[title] == place
    )


def _title(piece: str) -> str | None:
    bar = _BAR.search(piece) or _DRAWN.search(piece)
    return None if bar is None else _NUMBER.sub("#", piece[: bar.start()]).strip()
