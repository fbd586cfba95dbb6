"""A diagnosis as the JSON that the command line and HTTP give."""

from dataclasses import asdict
from importlib.metadata import version

from app.model import Diagnosis

MOST_FILES = 50


def answer(
    diagnosis: Diagnosis, *, id: str | None = None, status: str = "complete"
) -> dict[str, object]:
    """Spell the answer out; keys and labels are the public contract."""
    verdict = asdict(diagnosis.verdict)
    log = asdict(diagnosis.log)
    log["files"] = log["files"][:MOST_FILES]
    return {
        "id": id,
        "status": status,
        "method": diagnosis.method,
        "job": {
            name: value for name, value in asdict(diagnosis.job).items() if value not in (None, ())
        },
        "primary": verdict["primary"],
        "explained": verdict["explained"],
        "other_roots": verdict["other_roots"],
        "evidence": verdict["evidence"],
        "suspects": verdict["suspects"],
        "recovery": asdict(diagnosis.plan),
        "precedents": [asdict(one) for one in diagnosis.recalled.precedents],
        "attempts": [asdict(attempt) for attempt in diagnosis.attempts],
        "opinion": asdict(diagnosis.opinion) if diagnosis.opinion else None,
        "remarks": [*verdict["remarks"], *notes(diagnosis)],
        "log": log,
        "versions": {
            "firstfault": version("firstfault"),
            "rules": diagnosis.rules,
            "prompts": diagnosis.asked.prompts if diagnosis.asked else None,
            "model": diagnosis.asked.model if diagnosis.asked else None,
        },
    }


def notes(diagnosis: Diagnosis) -> list[str]:
    """Say what could not be asked: memory, a model."""
    asked = diagnosis.asked.note if diagnosis.asked else None
    return [note for note in (diagnosis.recalled.note, asked) if note]
