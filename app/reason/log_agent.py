"""The log agent: have filters written for a log whose format no filter knows.

The model sees kinds of lines with samples, never the whole log, and answers several times. What it
writes is voted on (`ballot`) and tried (`gates`); code alone decides what becomes a filter.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.reason.ballot import Candidate, Refusal, Sample, elect
from app.reason.budget import Budget
from app.reason.client import Client
from app.reason.forms import FilterReply, FiltersReply
from app.reason.gates import Evidence, Trial, refusal
from app.reason.prompt import Prompt
from app.reason.question import Fit, Question
from app.token_count import tokens
from app.written import Kind, Proposal, Volume

PROMPT, PURPOSE = "log_agent", "write filters"
_MOST_KINDS = 25  # that the model is shown
_SHOWN_SAMPLES = 4
_SHOWN_TOKENS = 8000
_LEAST_TOKENS = 200
_MOST_FILTERS = 12


@dataclass(frozen=True, slots=True)
class Written:
    """What came of it."""

    proposals: tuple[Proposal, ...]
    refused: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """The filters that a type has: what a person switched `off` stays, what is `active` is done."""

    active: tuple[str, ...] = ()
    off: tuple[str, ...] = ()


def write_filters(
    job_type: str,
    volume: Volume,
    evidence: Sequence[Evidence],
    client: Client,
    prompt: Prompt,
    budget: Budget,
    answers: int = 5,
    known: Known = Known(),  # noqa: B008  # a frozen value
) -> Written:
    """Ask for filters and keep those that pass; raise ModelError where there is no answer."""
    masks = client.masks()
    question = Question(
        purpose=PURPOSE,
        prompt=prompt,
        form=FiltersReply,
        values={"job_type": job_type},
        masks=masks,
        fit=Fit("templates", lambda room: shown(volume, room), _LEAST_TOKENS),
    )
    heard = client.ask_several(question, budget, answers)
    told = [[_unmasked(one, masks.restore) for one in answer.reply.filters] for answer in heard]
    return judged(told, volume, evidence, answers, known)


def judged(
    answers: Sequence[Sequence[FilterReply]],
    volume: Volume,
    evidence: Sequence[Evidence],
    asked: int,
    known: Known = Known(),  # noqa: B008  # a frozen value
) -> Written:
    """Vote on the filters of all answers, and try what is elected."""
    sample = Sample(volume)
    evidence = [*(Evidence(text, "this log") for text in volume.spared), *evidence]
    elected, refused = elect(answers, sample, asked)
    spared, taken = sample.meet_any(known.off), sample.meet_any(known.active)
    proposals: list[Proposal] = []
    for candidate in elected:
        told = _needless(candidate, spared, taken)
        if told is not None:
            refused += [Refusal(one.name, one.match, told) for one in candidate.filters]
            continue
        chosen = _chosen(candidate, sample, evidence, refused)
        if chosen is not None and len(proposals) < _MOST_FILTERS:
            name = _free(chosen.name, [proposal.name for proposal in proposals])
            proposals.append(_proposal(name, chosen, candidate, sample))
            taken |= candidate.meets
    return Written(tuple(proposals), tuple(refused))


def shown(volume: Volume, room_tokens: int) -> str:
    """Write the largest kinds with samples, within so many tokens."""
    lines: list[str] = []
    left = min(room_tokens, _SHOWN_TOKENS)
    for kind in volume.kinds[:_MOST_KINDS]:
        part = list(_told(kind, volume))
        left -= sum(tokens(line) + 1 for line in part)
        if left < 0:
            break
        lines += part
    return "\n".join(lines)


def _needless(candidate: Candidate, spared: frozenset[int], taken: frozenset[int]) -> str | None:
    """Say why a filter is not wanted, whatever it is worth."""
    if candidate.meets & spared:
        return "a person switched off a filter that took these lines away"
    if candidate.meets and candidate.meets <= taken:
        return "other filters take its lines away"
    return None


def _told(kind: Kind, volume: Volume) -> Iterator[str]:
    share = kind.count / max(1, volume.lines)
    yield f"-- {kind.count} lines, {share:.4f} of the log: {kind.text[:300]}"
    yield from (f"   {sample[:300]}" for sample in kind.samples[:_SHOWN_SAMPLES])


def _unmasked(one: FilterReply, restore: Callable[[str], str]) -> FilterReply:
    """Give the examples as the log has them."""
    lines = {"hits": tuple(map(restore, one.hits)), "misses": tuple(map(restore, one.misses))}
    return one.model_copy(update=lines)


def _chosen(
    candidate: Candidate, sample: Sample, evidence: Sequence[Evidence], refused: list[Refusal]
) -> FilterReply | None:
    """Give the first spelling that passes all gates; tell of the others."""
    for one in candidate.filters:
        why = refusal(Trial(one, candidate.meets, sample, evidence))
        if why is None:
            return one
        refused.append(Refusal(one.name, one.match, why))
    return None


def _proposal(name: str, chosen: FilterReply, candidate: Candidate, sample: Sample) -> Proposal:
    return Proposal(
        name=name,
        title=chosen.title,
        why=chosen.why,
        match=chosen.match,
        hits=chosen.hits,
        misses=chosen.misses,
        votes=candidate.votes,
        answers=candidate.answers,
        share=round(sample.share_of_lines(candidate.meets), 6),
    )


def _free(name: str, taken: Sequence[str]) -> str:
    """Give a name that no other filter has."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found
