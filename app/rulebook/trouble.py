"""Words of trouble: no filter that a model wrote may take away a line that holds one.

Signals keep the evidence that the rulebook knows. This keeps what it does not know yet, whatever
the filter says: a wrong filter then costs room, never a cause. The words stand for themselves, so
that a metric such as `mean_squared_error` is none.
"""

from app.rulebook.pattern import Pattern, parse

# ERROR shard 12 unreadable · worker 3 died · link down on mlx5_2 · step 40 took 812 s (stalled)
_WORDS = (
    r"errors?|errno|err|fail(?:s|ed|ure|ures|ing)?|fatal|critical|panic|exceptions?|traceback|"
    r"abort(?:s|ed|ing)?|assert(?:ion)?|crash(?:es|ed|ing)?|kill(?:s|ed|ing)?|died|dead|dying|"
    r"terminat(?:e|es|ed|ing)|segfault|sig(?:segv|abrt|bus|kill|term|ill|int)|core dumped|"
    r"corrupt(?:s|ed|ion)?|invalid|illegal|refused|denied|unreachable|unresponsive|unavailable|"
    r"cannot|could not|unable|timed[ -]?out|time[ -]?outs?|stall(?:s|ed|ing)?|hang(?:s|ing)?|hung|"
    r"stuck|lost|missing|mismatch|not found|no such|out of memory|oom|evict(?:ed|ion)?|"
    r"preempt(?:ed|ion)?|cancel(?:s|led|ed)?|uncorrectable|ecc|xid|nan|inf|overflow|"
    r"broken|reset by peer|link down|warn|warning|exit(?:s|ed)?|exceed(?:s|ed)?|retry(?:ing)?"
)


def trouble() -> Pattern:
    """Give the pattern of these words; to parse it takes 0.02 s, and few logs need it."""
    return parse(rf"(?:^|[^0-9A-Za-z_])(?:{_WORDS})(?:[^0-9A-Za-z_]|$)", ignore_case=True)
