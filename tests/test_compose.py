"""The compose file, held to the settings and to what replicas must and must not share."""

import re

import pytest
import yaml

from app.settings import Settings
from tests.pages import ROOT

COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
REPLICAS = {name: each for name, each in SERVICES.items() if "build" in each}
OURS = {"FIRSTFAULT_DOOR_PORT"}  # of the file itself


def test_every_name_of_a_setting_is_one():
    named = set(re.findall(r"FIRSTFAULT_[A-Z_]*[A-Z]", (ROOT / "compose.yaml").read_text()))
    assert named - OURS <= {f"FIRSTFAULT_{name.upper()}" for name in Settings.model_fields}


@pytest.mark.parametrize("name", [name for name in SERVICES if name not in REPLICAS])
def test_an_image_is_pinned_to_a_version(name):
    assert re.search(r":\d+\.\d+(\.\d+)?(-\w+)?$", SERVICES[name]["image"])


def test_replicas_share_all_but_their_names():
    assert len(REPLICAS) == 2
    names = [each["environment"].pop("FIRSTFAULT_REPLICA") for each in REPLICAS.values()]
    assert len(set(names)) == 2
    one, two = REPLICAS.values()
    assert one == two


def test_their_folder_is_the_data_folder_of_the_image():
    (volume,) = REPLICAS["one"]["volumes"]
    image = (ROOT / "Dockerfile").read_text()
    assert f"FIRSTFAULT_DATA_DIR={volume.partition(':')[2]}" in image


def test_only_the_door_can_be_reached_and_it_needs_tokens():
    assert [name for name, each in SERVICES.items() if "ports" in each] == ["door"]
    assert REPLICAS["two"]["environment"]["FIRSTFAULT_TOKENS"].startswith("${FIRSTFAULT_TOKENS:?")


def test_volumes_and_configs_that_are_used_are_declared():
    used = {v.partition(":")[0] for each in SERVICES.values() for v in each.get("volumes", ())}
    assert used == set(COMPOSE["volumes"])
    configs = {c["source"] for each in SERVICES.values() for c in each.get("configs", ())}
    assert configs == set(COMPOSE["configs"])


def test_what_a_service_waits_for_is_there():
    for each in SERVICES.values():
        assert set(each.get("depends_on", ())) <= set(SERVICES)
