"""Cut a text that is to be shown, and say so."""

_BLANKS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029], " ")
_SPARED = 24  # characters; a mark for fewer would be longer than what it stands for


def cut(text: str, longest: int) -> str:
    """Keep a text on its line; what is longer ends in a mark that tells how much is left out."""
    if len(text) <= longest + _SPARED:
        return text.translate(_BLANKS)
    return f"{text[:longest].translate(_BLANKS)}…(+{len(text) - longest} characters)"
