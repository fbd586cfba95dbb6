"""The rule writer's question: how a cause shows that people confirmed and no rule had found.

The model is shown the lines of the confirmed failures and the likest lines of healthy runs, all of
them masked, and answers several times. What it writes stays masked: a rule is read by many, so no
example in it may tell what a log tells of its owner.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.reason.budget import Budget
from app.reason.client import Client
from app.reason.forms import SignalReply
from app.reason.prompt import Prompt, Trusted
from app.reason.question import Fit, Question
from app.token_count import tokens

PROMPT, PURPOSE = "rule_writer", "write a signal"
_ANSWERS = 3
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Missed:
    """A cause that rules missed, its meaning, what showed it, what healthy runs print like it."""

    cause: str
    meaning: str
    evidence: Sequence[str]
    near: Sequence[str]


def write_signals(
    told: Missed, client: Client, prompt: Prompt, budget: Budget
) -> tuple[SignalReply, ...]:
    """Ask for signals; give those that differ, the most frequent first. Raises ModelError."""
    question = Question(
        purpose=PURPOSE,
        prompt=prompt,
        form=SignalReply,
        values={
            "cause": Trusted(f"{told.cause}: {told.meaning}"),
            "near": _lines(told.near) or "none is like them\n",
        },
        masks=client.masks(),
        fit=Fit("evidence", lambda room: _lines(tuple(_within(told.evidence, room)))),
    )
    answers = client.ask_several(question, budget, _ANSWERS)
    alike: dict[object, list[SignalReply]] = {}
    for answer in answers:
        reply = answer.reply
        way = (reply.match, reply.exception, reply.message, reply.unless)
        alike.setdefault(way, []).append(reply)
    return tuple(same[0] for same in sorted(alike.values(), key=len, reverse=True))


def _within(lines: Sequence[str], room_tokens: int) -> Iterator[str]:
    """Give the first lines that have room: those that tell most come first."""
    for line in lines:
        room_tokens -= tokens(line[:_LONGEST]) + 1
        if room_tokens < 0:
            return
        yield line


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line[:_LONGEST]}\n" for line in lines)
