"""The shapes of the lines of a traceback, drawn in boxes or with margins as they may be."""

import re

from app.detect.block import Link, Mark

Frame = tuple[str, str, str]

HEADER = "Traceback (most recent call last)"

# A frame of a native stack ('File "x.py", line 3 in run', no comma) is not one of ours.
_FRAME = re.compile(
    r'(?P<indent>[ \t>]*)File "(?P<path>[^"]{1,1000})", line (?P<line>\d{1,9})'
    r"(?:, in (?P<function>.{1,300}))?\s*\Z"
)
# /opt/train/loop.py:88 in run_epoch
_BOX_FRAME = re.compile(
    r"(?P<path>[^\s:]{1,1000}):(?P<line>\d{1,9}) in (?P<function>\S{1,300})\s*\Z"
)
# File ~/work/loop.py:88, in run_epoch(batches)
_CELL_FRAME = re.compile(
    r"\s*(?:File )?(?P<path>[^\s:]{1,1000}):(?P<line>\d{1,9}), in (?P<function>[\w.<>]{1,300})"
)
_LEFT_BORDERS = ("│", "┃", "|")
_BOX_STARTS = ("╭", "┌", "┏", "+-")
_BOX_ENDS = ("╰", "└─", "┗", "+-")
# |   File "/opt/train/loop.py", line 88, in run_epoch
_MARGIN = re.compile(r"(?P<margin>\s*)\|(?: (?P<rest>.*)|\s*)\Z", re.DOTALL)
_DIGITS = str.maketrans("123456789", "000000000")
_LONGEST_HEAD = 300


def read_frame(text: str, *, cells: bool) -> tuple[int, Frame] | None:
    """Read a frame line: its column, and path, line and function.

    Frames as IPython prints them count only where a header has come (`cells`).
    """
    if 'File "' in text:
        if match := _FRAME.match(text):
            indent = len(match["indent"].expandtabs(4))
            return indent, (match["path"], match["line"], (match["function"] or "").strip())
    elif cells and ", in " in text and (match := _CELL_FRAME.match(text)):
        return 2, (match["path"], match["line"], match["function"])
    return None


def read_box_frame(text: str) -> Frame | None:
    """Read a frame as it stands within a drawn box."""
    match = _BOX_FRAME.match(text)
    return (match["path"], match["line"], match["function"]) if match else None


def unbox(text: str) -> str | None:
    """Give what stands between the borders of a box; None outside of one."""
    inner = text.strip()
    if not inner.startswith(_LEFT_BORDERS):
        return None
    return inner[1:].rstrip("│┃| ").lstrip()


def starts_box(head: str) -> bool:
    """Say whether the text before a header draws the upper edge of a box."""
    return head.lstrip().startswith(_BOX_STARTS) and "Exception Group" not in head


def ends_box(text: str) -> bool:
    """Say whether a line draws the lower edge of a box."""
    return text.lstrip().startswith(_BOX_ENDS)


def split_margin(text: str) -> tuple[int, str] | None:
    """Split a line of an exception group into the column of its margin and the rest."""
    match = _MARGIN.match(text)
    return (len(match["margin"]), match["rest"] or "") if match else None


def is_divider(text: str) -> bool:
    """Say whether a line of an exception group stands between two of its members."""
    return text.lstrip(" |").startswith(("+-+--", "+----"))


def shape_of_head(head: str) -> str:
    """Mask what a logger wrote before a header, so that it can be met on the next lines.

    Without a time or a line number it is no logger's ("traceback : ").
    """
    shape = head.translate(_DIGITS) if len(head) <= _LONGEST_HEAD else ""
    return shape if "0" in shape else ""


def behead(text: str, shape: str) -> str:
    """Take off the same logger head, whatever the digits in it."""
    return text[len(shape) :] if text[: len(shape)].translate(_DIGITS) == shape else text


def indent_of(text: str) -> int:
    """Give the column where a text starts."""
    width = len(text) - len(text.lstrip(" \t"))
    return len(text[:width].expandtabs(4)) if "\t" in text[:width] else width


_LINKS: tuple[tuple[str, Link], ...] = (
    ("The above exception was the direct cause of", "direct"),
    ("During handling of the above exception", "handling"),
)
_MARKS: tuple[tuple[str, Mark], ...] = (
    ("Exception ignored ", "ignored"),
    ("Error in atexit", "ignored"),
    ("Error in sys.excepthook", "ignored"),
    ("--- Logging error", "ignored"),
    ("Original exception was:", ""),
    ("Exception in thread ", "thread"),
    ("Unhandled exception in thread", "thread"),
    ("Task exception was never retrieved", "logged"),
    ("Exception in callback ", "logged"),
)


def read_link(text: str) -> Link | None:
    """Read the words that chain two tracebacks."""
    if "above exception" not in text:
        return None
    return next((link for words, link in _LINKS if words in text), None)


def read_mark(text: str) -> Mark | None:
    """Read what Python says before a traceback that does not end the process."""
    if "xception " not in text and "Error in " not in text and "--- Logging" not in text:
        return None
    return next((mark for words, mark in _MARKS if words in text), None)


def stirs(text: str) -> bool:
    """Say whether a line may begin something, where nothing is under way."""
    if HEADER in text or "xception " in text or "terminat" in text or "Error in " in text:
        return True
    return "--- Logging" in text or "what():" in text or text.lstrip().startswith('File "')
