"""The pages say what the program does: each command, setting and field of a rule has its words."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from pydantic import BaseModel

from app.cli.commands import app
from app.rulebook.cause import CauseForm, DomainForm, Edge, Example, Explains, Recovery
from app.rulebook.lines import BenignFile, BenignForm, FilterForm, MarkFile, MarkForm
from app.rulebook.signal import SignalFile, SignalForm
from app.settings import Settings
from tests.pages import PAGES, ROOT, written_anew

README, RULES, SETTINGS = (page.read_text() for page in PAGES)
_ALL = (*PAGES, *(ROOT / "docs" / name for name in ("operation.md", "model.md", "webhooks.md")))
_FORMS: tuple[type[BaseModel], ...] = (
    CauseForm, DomainForm, Explains, Edge, Recovery, Example, SignalFile, SignalForm, BenignFile,
    BenignForm, FilterForm, MarkFile, MarkForm,
)  # fmt: skip
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)|`((?:app|rules|fixtures|tests)/[\w./]+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_generated_parts_are_up_to_date(page: Path) -> None:
    assert page.read_text() == written_anew(page), "run `python -m tests.pages`"


def _commands(group: typer.Typer, before: str = "firstfault") -> Iterator[str]:
    for command in group.registered_commands:
        named = command.callback.__name__ if command.callback else ""
        yield f"{before} {command.name or named}"
    for inner in group.registered_groups:
        assert inner.typer_instance
        yield from _commands(inner.typer_instance, f"{before} {inner.name}")


@pytest.mark.parametrize("command", list(_commands(app)))
def test_every_command_is_on_the_first_page(command: str) -> None:
    assert f"`{command}" in README


@pytest.mark.parametrize("name", list(Settings.model_fields))
def test_every_setting_is_on_the_page_of_settings(name: str) -> None:
    assert f"`FIRSTFAULT_{name.upper()}`" in SETTINGS


@pytest.mark.parametrize(
    ("form", "field"), [(form.__name__, field) for form in _FORMS for field in form.model_fields]
)
def test_every_field_of_a_rule_is_on_the_page_of_rules(form: str, field: str) -> None:
    assert re.search(rf"`{field}:?`|\b{field}[,}}]", RULES)


@pytest.mark.parametrize("page", _ALL, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_points_only_at_what_is_there(page: Path) -> None:
    for link, path in _LINK.findall(page.read_text()):
        assert (page.parent / link if link else ROOT / path).exists(), link or path


def test_the_first_page_fits_three_screens() -> None:
    assert README.count("\n") < 150
