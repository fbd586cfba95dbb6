"""The dashboard asks for nothing that the service does not tell."""

import json
import re

from tests.pages import ROOT

PANELS = json.loads((ROOT / "docs" / "grafana.json").read_text())["panels"]


def test_every_figure_of_the_dashboard_is_one_of_the_service(client):
    client.get("/v1/diagnoses")
    kinds = dict(re.findall(r"^# TYPE (\S+) (\w+)$", client.get("/metrics").text, re.MULTILINE))
    told = set(kinds)
    for name, kind in kinds.items():
        if kind == "histogram":
            told |= {f"{name}_bucket", f"{name}_count", f"{name}_sum"}
    asked = {
        name
        for panel in PANELS
        for target in panel["targets"]
        for name in re.findall(r"firstfault_\w+", target["expr"])
    }
    assert asked <= told


def test_each_panel_has_a_place_of_its_own():
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in PANELS]
    assert len(set(places)) == len(places)
