"""Weigh the signs of an end that no trainer's or wrapper's word names.

Programs whose wording nobody wrote down still close alike: they say what they wrote, how long it
took, how good it is. One such sign proves nothing, as work prints it in its midst too. Two of
different kinds at the very end of a log do, if nothing behind the first speaks of a failure or of
somebody who ends the job.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from app.model import Line, Marked

_MOST_KINDS_BEHIND = 12  # kinds of lines, alike but for their numbers, that may follow the last
_MOST_ALIKE = 3  # times that the same is said; more is routine
_DIGITS = re.compile(r"(?<![\dx])x*\d[\w.]*")
_MOST_KINDS_BEHIND_WORDS = 10
_GONE_WRONG = re.compile(
    r"(?<!without )(?<!no )(?<!any )(?<!\b0 )\b"
    r"(?:errors?(?! ?[:=] ?(?:0|none)\b)(?! rate)|fail(?:ed|ures?|ing|s)?(?! ?[:=] ?0\b)|fatal|"
    r"panic|abort\w*|crash\w*|killed|refused|denied|unable|cannot|could not|traceback|segfault|"
    r"corrupt\w*|died|dead|no answer|"
    r"exception(?! ignored)|core dumped|out of memory|sig(?:term|int|kill|usr[12]|hup|segv)|signal|"
    r"interrupt\w*|pre-?empt\w*|evict\w*|reclaim\w*|re-?queue\w*|resum\w+|walltime|time ?limit|"
    r"timed? ?out|cancel\w*|terminat(?:ed|ing)|stopped|unhealthy|lost|stuck|hang|hung|emergency)\b|"
    r"\b(?:exit(?:ed)?|rc|ret|return(?:ed)?|status|code)\b[^\w\n]{0,4}"
    r"(?:with |code |status )*-?[1-9]"
    r"|失败|错误|异常|中断|终止|退出码|실패|오류|중단|失敗|エラー|異常|中止",
    re.IGNORECASE,
)


# Work that begins or goes on behind a word of an end, but for what is awaited in order to leave.
_GOES_ON = re.compile(
    r"\b(?:(?:re)?start(?:s|ed|ing)?|begin(?:s|ning)?|next|second part|part \d|load(?:s|ing)|"
    r"opening|reading|init\w*|launch\w*|attempt|waiting for (?:peers?|ranks?|data|batch|the next)|"
    r"using|drawing|shuffling|building|preparing|creating|continu\w+|first (?:batch|step))\b"
    r"|开始|启动|加载|正在|下一|시작|불러오|다음|開始|読み込|次の",
    re.IGNORECASE,
)
# ===== Starting fine-tuning =====   INFO begin training of model 3
_TRAINS = re.compile(
    r"\b(?:start|begin)(?:s|ned|ed|ning|ing)?\b.{0,20}\b(?:train|fine-?tun|tun)ing\b", re.IGNORECASE
)
# training the final model with lr=0.0003   refitting on all folds
_REFITS = re.compile(
    r"\b(?:re-?)?(?:train|fine-?tun|fitt?)(?:s|ing) (?:the |a |one )?(?:final|best|full) "
    r"(?:model|configuration|run)\b|\b(?:refitt?|retrain)(?:s|ing)\b",
    re.IGNORECASE,
)
# running stage sft   >>> Starting phase: annealing   next adapter: sql
_BEGINS_ONE = re.compile(
    r"^\W*(?:[\w.-]+(?:\]|\]?[:|]) )?(?:now )?"
    r"(?:running|start(?:ing)?|beginning|entering|launching|next):? (?:the )?(?:training )?"
    r"(?:stage|phase|fold|experiment|trial|member|adapter|variant|model)\b",
    re.IGNORECASE,
)
# Training B: 200 steps   -- part II of the training
_NAMED_ONE = re.compile(
    r"^\W*(?i:training|stage|phase|part|fold|seed|experiment|trial|task|member|adapter|variant|model)"
    r" (?P<name>[A-Z]|\d{1,2}|[IVX]{1,4})\b(?![.\d])"
)
_TELLS_A_RESULT = re.compile(r"\d\.\d|%")
_IS_DONE = re.compile(r"\b(?:finish|complet|done|end)(?:e?d|es?)?\b", re.IGNORECASE)
# writing optimizer state, shard 3 of 16
_OF_FILES = re.compile(
    r"\b(?:shard|part|file|chunk|piece|tensor)s? ?#?(?P<one>\d{1,5}) ?(?:/|of) ?(?P<all>\d{1,5})\b",
    re.IGNORECASE,
)
# [W313 17:16:01.112 CudaIPCTypes.cpp:16]   UserWarning: use y
_WARNS = re.compile(r"\[W\d{3,4} |\bwarn|Warning\b", re.IGNORECASE)
_IGNORED = "Exception ignored "
_NAMES_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b")
_OF_TRACEBACK = re.compile(rf"Traceback \(most recent|\s|File \"|{_NAMES_EXCEPTION.pattern}")
_LEAVES = re.compile(r"\b(?:finish|terminat|exit|upload|sync|flush|clos|shut|clean|teardown)", re.I)


def closing(
    signs: Sequence[Marked], lines: Sequence[Line], *, trains: bool
) -> tuple[Line, Line] | None:
    """Give the first and the last of the signs that close a log; None if they prove too little.

    Where all of them may close a part alone, they must be the last words of a log that `trains`
    nothing.
    """
    said = Counter(_in_words(sign.line) for sign in signs)
    rare = [sign for sign in signs if said[_in_words(sign.line)] < _MOST_ALIKE]
    own = [sign for sign in rare if sign.line.file == rare[-1].line.file]
    pairs = (
        (sign, own[-1])
        for sign in reversed(own)
        if sign.mark != own[-1].mark and sign.line.number != own[-1].line.number
    )
    first, last = next(pairs, (None, None))
    if first is None or last is None:
        return None
    partial = all(sign.grade == "stage" for sign in own if sign.line.number >= first.line.number)
    most = 0 if partial else _MOST_KINDS_BEHIND
    if partial and trains:
        return None
    if _is_spoilt(_behind(first.line, lines)) or _goes_on(_behind(last.line, lines)):
        return None
    kinds = {_in_words(line) for line in _behind(last.line, lines)}
    return (first.line, last.line) if len(kinds) <= most else None


def is_in_the_midst(word: Line, lines: Sequence[Line]) -> bool:
    """Say whether a word was about something before the end, by what or how much follows it."""
    behind = _behind(word, lines)
    kinds = {_in_words(line) for line in behind}
    return len(kinds) > _MOST_KINDS_BEHIND_WORDS or _is_spoilt(behind) or _goes_on(behind)


def work_goes_on_behind(word: Line, lines: Sequence[Line]) -> bool:
    """Say whether what follows speaks of a failure, or of work that begins."""
    behind = [line for line in _behind(word, lines) if not _WARNS.search(line.raw)]
    return _is_spoilt(behind) or _goes_on(behind)


def trains_again_behind(word: Line, lines: Sequence[Line]) -> bool:
    """Say whether training begins behind a word: of a last model, or as it began before the word.

    Said once it may stand at a wrong place, where a program's two outputs were put together.
    """
    if any(_REFITS.search(line.text) for line in _behind(word, lines)):
        return True
    if _begins_one_more(word, lines):
        return True
    behind = [line for line in _behind(word, lines) if _TRAINS.search(line.text)]
    before = {
        _in_words(line)
        for line in (lines if behind else ())
        if line.file == word.file and line.number < word.number
    }
    return any(_in_words(line) in before for line in behind)


def is_cut_short(word: Line, lines: Sequence[Line]) -> bool:
    """Say whether files are written from a word on, one after another, and some were left."""
    told = [
        found for line in [word, *_behind(word, lines)] for found in _OF_FILES.finditer(line.text)
    ]
    return bool(told) and int(told[-1]["one"]) + 1 < int(told[-1]["all"])


def _begins_one_more(word: Line, lines: Sequence[Line]) -> bool:
    """Say whether one of several trainings begins behind a word, as one did before it, for good."""
    own = [line for line in lines if line.file == word.file]
    begun = [line.number for line in own if _BEGINS_ONE.match(line.text)]
    named = [(found["name"], line.number) for line in own if (found := _names_one(line.text))]
    before = {name for name, number in named if number < word.number}
    if before:
        begun += [n for name, n in named if n < word.number or name not in before]
    if not begun or not min(begun) < word.number < max(begun):
        return False
    return not any(line.number > max(begun) and _IS_DONE.search(line.text) for line in own)


def _names_one(text: str) -> re.Match[str] | None:
    told = _IS_DONE.search(text) or _TELLS_A_RESULT.search(text)
    return None if told else _NAMED_ONE.match(text)


def _is_spoilt(behind: Sequence[Line]) -> bool:
    return any(_GONE_WRONG.search(line.text) and not _WARNS.search(line.raw) for line in behind)


def _goes_on(behind: Sequence[Line]) -> bool:
    work = any(_GOES_ON.search(line.text) and not _LEAVES.search(line.text) for line in behind)
    return work or any(_REFITS.search(line.text) for line in behind)


def _behind(word: Line, lines: Sequence[Line]) -> list[Line]:
    own = (line for line in lines if line.file == word.file and line.number > word.number)
    return _without_ignored(own)


def _without_ignored(lines: Iterable[Line]) -> list[Line]:
    """Leave out the tracebacks that Python prints of objects that go while all is torn down."""
    left: list[Line] = []
    within = False
    for line in lines:
        within = _IGNORED in line.text or (within and _OF_TRACEBACK.match(line.text) is not None)
        if not within:
            left.append(line)
        within = within and not _NAMES_EXCEPTION.match(line.text)
    return left


def _in_words(line: Line) -> str:
    return _DIGITS.sub("#", line.text)
