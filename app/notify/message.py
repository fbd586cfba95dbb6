"""What listeners are told when a diagnosis has ended: as JSON for programs, as text for people."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from app.moment import in_utc

Format = Literal["json", "slack"]
Value: TypeAlias = "str | int | float | bool | None | Sequence[Value] | Mapping[str, Value]"
Answer = Mapping[str, Value]

_MOST_SUSPECTS = 4
_MOST_STEPS = 3


def body(answer: Answer, form: Format, at: float) -> str:
    """Write the message of a diagnosis, whose `answer` is the public JSON of it."""
    return slack(answer) if form == "slack" else event(answer, at)


def event(answer: Answer, at: float) -> str:
    """Write the event of a program: Standard Webhooks payload, the answer as its data."""
    ended = "failed" if answer.get("error") else "completed"
    return json.dumps(
        {
            "type": f"diagnosis.{ended}",
            "timestamp": in_utc(at),
            "data": answer,
        },
        ensure_ascii=False,
    )


def slack(answer: Answer) -> str:
    """Write a message that Slack, Mattermost, Rocket.Chat and others take at an incoming hook."""
    lines = _failed(answer) if answer.get("error") else _complete(answer)
    return json.dumps({"text": "\n".join(lines)}, ensure_ascii=False)


def _complete(answer: Answer) -> list[str]:
    primary, recovery = _part(answer, "primary"), _part(answer, "recovery")
    restart = "an automatic restart is right" if recovery.get("restart") else "no automatic restart"
    lines = [
        f"*{_text(primary.get('cause'))}* ({_text(primary.get('domain'))}, confidence "
        f"{_text(primary.get('confidence'))}) · {_job(answer)}",
        _text(primary.get("summary")),
    ]
    if where := _where(answer):
        lines.append(f"Where: {where}")
    lines.append(f"What to do: {_text(recovery.get('action'))}; {restart}")
    steps = _list(recovery.get("steps"))[:_MOST_STEPS]
    lines += [f"{number}. {_text(step)}" for number, step in enumerate(steps, 1)]
    return [*lines, f"`{_text(answer.get('id'))}`"]


def _failed(answer: Answer) -> list[str]:
    error = _part(answer, "error")
    said = f"{_text(error.get('kind'))}: {_text(error.get('detail'))}"
    return [f"*No diagnosis* · {_job(answer)}", said, f"`{_text(answer.get('id'))}`"]


def _job(answer: Answer) -> str:
    job = _part(answer, "job")
    named = " ".join(_text(job[key]) for key in ("job_id", "name") if job.get(key))
    place = f" on {_text(job['cluster'])}" if job.get("cluster") else ""
    return f"job {named or 'without a number'}{place}"


def _where(answer: Answer) -> str:
    told = [each for each in _list(answer.get("suspects")) if isinstance(each, Mapping)]
    return "; ".join(
        ", ".join(
            f"{key} {_text(each[key])}"
            for key in ("host", "rank", "gpu", "nic")
            if each.get(key) is not None
        )
        for each in told[:_MOST_SUSPECTS]
    )


def _part(answer: Answer, key: str) -> Answer:
    part = answer.get(key)
    return part if isinstance(part, Mapping) else {}


def _list(value: Value) -> list[Value]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _text(value: Value) -> str:
    """Escape what Slack reads as markup: https://api.slack.com/reference/surfaces/formatting."""
    text = str(value) if value is not None else "unknown"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
