"""The dashboard asks for nothing that the service does not tell, and in ways that can be meant."""

import json
import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.pages import ROOT

PANELS = json.loads((ROOT / "docs" / "grafana.json").read_text())["panels"]
TARGETS = [(panel["title"], target) for panel in PANELS for target in panel["targets"]]
EXPRESSIONS = [target["expr"] for _, target in TARGETS]
NAMES = re.compile(r"firstfault_\w+")


@pytest.fixture(scope="module")
def families(client):
    client.post("/v1/diagnoses?wait=60", content=b"cause KeyError")
    client.post("/v1/diagnoses?wait=60", content=b"refuse")
    found = {}
    for family in text_string_to_metric_families(client.get("/metrics").text):
        endings = {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}
        for ending in endings.get(family.type, [""]):
            found[family.name + ending] = family
    return found


def test_every_figure_of_the_dashboard_is_one_of_the_service(families):
    asked = {name for expression in EXPRESSIONS for name in NAMES.findall(expression)}
    assert asked <= families.keys()


def test_what_only_grows_is_asked_for_its_rate_and_what_does_not_is_not(families):
    for expression in EXPRESSIONS:
        grows = set(re.findall(r"(?:rate|increase)\((firstfault_\w+)", expression))
        for name in NAMES.findall(expression):
            assert (families[name].type != "gauge") == (name in grows), expression


def test_labels_of_the_dashboard_are_those_of_its_figures(families):
    for expression in EXPRESSIONS:
        grouped = re.findall(r"(?:by|ignoring) \(([^)]*)\)", expression)
        asked = {label.strip() for group in grouped for label in group.split(",")}
        asked |= set(re.findall(r"(\w+)(?:=~|!=|=)\"", expression))
        named = [families[name] for name in NAMES.findall(expression)]
        told = {label for each in named for sample in each.samples for label in sample.labels}
        if all(each.samples for each in named):  # else nothing of it has happened yet
            assert asked <= told, expression


@pytest.mark.parametrize(("title", "target"), TARGETS)
def test_a_legend_names_only_labels_that_are_left(title, target):
    left = re.findall(r"by \(([^)]*)\)", target["expr"])
    kept = {label.strip() for group in left for label in group.split(",")}
    assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= kept, title
    assert target["expr"].count("(") == target["expr"].count(")")


def test_what_operators_are_promised_is_on_it():
    shown = " ".join(EXPRESSIONS)
    for name in (
        "stage_seconds", "answer_seconds", "unfinished", "oldest_unfinished_seconds",
        "uploads_in_progress", "diagnoses_complete", "answers", "model_calls", "model_tokens",
        "model_cost", "model_seconds", "deliveries", "dead_deliveries", "memory_index",
        "database_up",
    ):  # fmt: skip
        assert f"firstfault_{name}" in shown


def test_each_panel_has_a_place_of_its_own():
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in PANELS]
    assert len(set(places)) == len(places)
