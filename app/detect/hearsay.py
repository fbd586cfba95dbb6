"""What a line tells of other runs, or quotes from what people wrote.

Trainers print why they were started again, and samples of what they learn from. Both may hold the
very words of a kernel or a scheduler, and neither happened to this run.
"""

import re

import re2

_RUN = r"(?:last|previous|prior|earlier) (?:\w+ )?(?:run|job|attempt|allocation)"
# last run died: CUDA error: …   previous job state: State=TIMEOUT   resume reason: NODE_FAIL
_BEFORE = re.compile(
    rf"(?i)\b{_RUN}(?:'s)? (?:state|status|died|dies|ended|failed|crashed|stopped|exited|hit|met"
    r"|was|had|got|saw)\b|\bresum(?:e|ed|ing) (?:reason|after|because)\b"
    r"|\breason (?:for|of) (?:the )?(?:resum|restart|requeu)\w+"
)
_BEFORE_QUIETLY = re.compile(rf"(?i)\b{_RUN}\b")
# State=NODE_FAIL of the previous attempt   preempted 2 times before   not part of this job
_BEHIND = re.compile(
    rf"(?i)^.{{0,60}}?\b(?:(?:of|in|from|by|during) (?:the |our |an? )?{_RUN}\b"
    r"|\d+ times? (?:before|already|so far)\b"
    r"|not (?:a )?(?:part of|in|used by) (?:this|the|our) (?:job|run|allocation)\b|not ours\b)"
)
# sample 3 (decoded): 'My dmesg says …   {"prompt": "…
_QUOTE = re.compile(
    r"(?i)\b(?:samples?|decoded|prompts?|completions?|generations?|generated|instructions?"
    r"|conversations?|rollouts?)\b[\"']?[^'\":=]{0,40}[:=] ?"
    r"(?P<quote>['\"])(?:(?!(?P=quote)(?:[\s,:;)}\]]|\Z)).)*\Z"
)
_TEXT = re.compile(r"(?i)\b(?:decoded|prompt|completion|generated)(?: text)?(?: #?\d{1,9})?: ")
_ANY = re2.compile(
    r"(?i)last |previous |prior |earlier |resum|reason |times? |not |sample|decoded|prompt"
    r"|completion|generat|instruction|conversation|rollout"
)


def hearsay(before: str, behind: str, *, quiet: bool) -> str | None:
    """Find the words round a match that make it somebody else's, or of another time.

    In a `quiet` record, of level INFO or DEBUG, it is enough that another run is named.
    """
    if not (_ANY.search(before) or _ANY.search(behind)):
        return None
    found = _BEFORE.search(before) or _BEHIND.search(behind) or _QUOTE.search(before)
    if found is None and quiet:
        found = _BEFORE_QUIETLY.search(before) or _TEXT.search(before)
    return found[0] if found else None
