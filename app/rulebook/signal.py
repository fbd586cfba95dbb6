"""The form of a signal: how a cause shows in a log."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from app.model import Action, Strength
from app.rulebook.cause import Explains
from app.rulebook.form import (
    CauseName,
    EitherName,
    Form,
    Lines,
    Name,
    RareRegex,
    RareRegexes,
    Regex,
    Regexes,
    Sentence,
    as_list,
)

# What may speak against a line: words of possibility or advice, words that deny, a retry that goes
# on, a level below that of an error, a rank that logs in passing what others would print, and words
# about other runs or out of a sample.
Doubt = Literal["hedge", "denial", "retry", "level", "rank", "hearsay"]
_Doubts = Annotated[tuple[Doubt, ...], BeforeValidator(as_list)]


class Window(Form):
    """When a context counts as a clue: shortly before something of which it may be the reason.

    `of` names causes or signals; the context must stand at most `seconds` before these began (less
    the wait that a timeout names), or, where clocks are missing, `lines` before them in one file.
    """

    of: Annotated[tuple[EitherName, ...], BeforeValidator(as_list)]
    seconds: float = Field(gt=0)
    lines: int = Field(20, gt=0)


class SignalForm(Form):
    """A line (`match`), or an exception (`exception` and more), that points at a cause.

    `match` is one regex or several of which any suffices; so is `unless`, which vetoes. `after`
    must have met a line at most `within` lines before, from the same printer. An exception signal
    names classes (`*` for any); `message`, `frames` and `code`, the source line that raised it,
    narrow it, and so do `raised_by`, which the frame that raised it must meet, and `raised_in`,
    which its caller must meet as well. Of the signals that fit one exception the most specific one
    is taken. Named groups become facts; `timeout_ms` and `timeout_s` set how far back the trouble
    began. `suspect` says whom the line accuses: its printer, the `{peer}` that it names, or nobody.
    `refines` lists what is the same event told with less detail. `despite` lists the doubts that do
    not weaken this signal: it means such lines. A context becomes a clue within its `window_before`
    and never else. `lookback` is the wait in seconds that a line stands for without naming it. A
    `general` one looks for plain words that any program may print: it falls by less, and what is
    specific goes before it.
    """

    name: Name
    cause: CauseName
    strength: Strength
    match: RareRegexes = ()
    exception: Lines = ()
    message: Regex | None = None
    frames: Regex | None = None
    raised_by: Regex | None = None
    raised_in: Regex | None = None
    code: Regex | None = None
    unless: Regexes = ()
    after: RareRegex | None = None
    within: int = Field(0, ge=0)
    despite: _Doubts = ()
    general: bool | None = None
    lookback: float = Field(0, ge=0)
    window_before: Window | None = None
    says: Sentence
    suspect: Literal["printer", "peer", "nobody"] = "printer"
    action: Action | None = None
    steps: Lines = ()
    explains: Explains = Explains()
    refines: tuple[EitherName, ...] = ()
    hits: Lines = ()
    misses: Lines = ()

    @property
    def patterns(self) -> tuple[str, ...]:
        """All regexes, those first whose named groups become facts."""
        after = (self.after,) if self.after else ()
        return (*self.match, *self.narrowing, *self.unless, *after)

    @property
    def narrowing(self) -> tuple[str, ...]:
        """The regexes that narrow the exceptions of the named classes."""
        given = (self.message, self.frames, self.raised_by, self.raised_in, self.code)
        return tuple(source for source in given if source)

    @model_validator(mode="after")
    def _one_way_to_match(self) -> "SignalForm":
        if bool(self.match) == bool(self.exception):
            raise ValueError("give either `match` or `exception`")
        if self.narrowing and not self.exception:
            raise ValueError("`message`, `frames`, `raised_…` and `code` belong to `exception`")
        if (self.after is None) != (self.within == 0):
            raise ValueError("`after` and `within` go together")
        if self.window_before and self.strength != "context":
            raise ValueError("`window_before` is for a context; what is more counts anyway")
        return self


class SignalFile(Form):
    """One file of `rules/signals/`, named after the software that prints the lines.

    Its `despite` holds for all its signals, `general` for those that do not say otherwise.
    """

    title: Sentence
    summary: Sentence
    references: Lines = ()
    despite: _Doubts = ()
    general: bool = False
    signals: tuple[SignalForm, ...]


class Signal(SignalForm):
    """A signal with the emitter whose file holds it, and what that file says for all of them."""

    emitter: str
    general: bool = False
