"""The forms of rules about lines that are no evidence: benign lines, filters and marks."""

from typing import Literal

from pydantic import model_validator

from app.model import EndGrade
from app.rulebook.form import Form, Lines, Name, RareRegexes, Regexes, Sentence

MarkKind = Literal[
    "start", "finished", "failed", "exit", "place", "section", "blame", "saved", "job", "report"
]


class BenignForm(Form):
    """Lines that look like errors and are harmless; no signal counts on them."""

    name: Name
    match: Regexes
    unless: Regexes = ()
    says: Sentence
    hits: Lines = ()
    misses: Lines = ()


class BenignFile(Form):
    """One file of `rules/benign/`."""

    title: Sentence
    summary: Sentence
    lines: tuple[BenignForm, ...]


class FilterForm(Form):
    """One file of `rules/filters/`: routine lines, told by the line as printed, prefix included.

    `drop` takes them away, unless a signal, a mark or a `keep` meets the line.
    """

    title: Sentence
    status: Literal["draft", "stable", "retired"] = "stable"
    summary: Sentence
    do: Literal["drop", "keep"]
    match: Regexes
    hits: Lines = ()
    misses: Lines = ()


class Filter(FilterForm):
    """A filter with the name of its file."""

    name: Name


class MarkForm(Form):
    """Lines that say where a job stands.

    `start`: a new attempt begins. `finished`: somebody says that the job ended well; `grade` tells
    who (the trainer, a wrapper, it merely looks so, a sign beside others, or the end of a part).
    `failed`: a launcher says that it did not. `exit`: a process ended (facts rank, local_rank,
    host, pid, code, signal). `place`: where a rank runs (facts rank, host, local_rank, gpu, nic,
    ip, pid), or how many there are (world, world_size, nodes, processes, node_rank, first_rank;
    own_rank for a whole file). `section`: what follows is the output of a host or rank. `blame`:
    somebody names who did not come or left (facts peer_rank, peer_host, peer). `saved`: a
    checkpoint was written. `job`: the scheduler's number of this very job (fact job). `report`: a
    batch system tells of the whole job from here on; with the fact output (`follows`) to here, and
    with the fact ended, when the job ended.
    """

    name: Name
    kind: MarkKind
    grade: EndGrade | None = None
    match: RareRegexes
    unless: Regexes = ()
    hits: Lines = ()
    misses: Lines = ()

    @model_validator(mode="after")
    def _grade_belongs_to_finished(self) -> "MarkForm":
        if (self.grade is not None) != (self.kind == "finished"):
            raise ValueError("`grade` belongs to kind `finished`, and only to it")
        return self


class MarkFile(Form):
    """One file of `rules/marks/`."""

    title: Sentence
    summary: Sentence
    marks: tuple[MarkForm, ...]
