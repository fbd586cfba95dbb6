"""Estimate how many tokens a text takes, without the tokenizer of any one model."""

# Logs are full of digits and punctuation, which tokenizers cut into short pieces: about three
# bytes a token for them, against four for prose.
_BYTES_PER_TOKEN = 3


def tokens(text: str) -> int:
    """Estimate the tokens of a text, rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)
