"""Say whether a verdict of the rules is in doubt, and so worth a question to a model.

A proof with a single root was right in 101 of 105 logs of a prototype, everything else in 27 of 53.
On labelled logs from which the deciding signal was taken away, which is how a failure looks that no
rule knows, the first was still right in 31 of 35, the rest in 30 of 148. A single proof of less
than high confidence is no exception: it was right in 20 of 20 labelled logs, with its signal taken
away in 6 of 8, and no opinion may overrule it, so a question would buy nothing. The word of a
trainer that it is done, with nothing beside it, is no doubt either: most jobs end like this, and
what a model would see is that word.
"""

from app.model import Verdict


def in_doubt(verdict: Verdict) -> bool:
    """Say whether anything but a proof with one root, or a clean end, is all that there is."""
    primary = verdict.primary
    if verdict.other_roots:
        return True
    if primary.cause == "Completed":
        return primary.confidence != "high"
    return primary.strength != "proof"
