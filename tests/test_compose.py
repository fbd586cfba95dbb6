"""The compose file, held to the settings and to what replicas must and must not share."""

import re
import tomllib

import pytest
import typer
import yaml

from app.api import probes
from app.cli.commands import app as command_line
from app.memory.chroma import Server
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
    names = {each["environment"]["FIRSTFAULT_REPLICA"] for each in REPLICAS.values()}
    assert len(names) == 2
    one, two = ({**each, "environment": _shared(each)} for each in REPLICAS.values())
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


def test_every_value_of_a_setting_is_one_that_it_takes(monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(f"FIRSTFAULT_{name.upper()}", raising=False)
    for name, value in _shared(REPLICAS["one"]).items():
        monkeypatch.setenv(name, _filled(value))
    settings = Settings()
    assert not settings.is_alone  # else the second replica finds the folder taken
    assert settings.tokens[0].name == "ops"
    assert settings.database.startswith("postgresql")
    assert Server(settings.chroma_url or "")


def _shared(replica):
    given = replica["environment"].items()
    return {name: value for name, value in given if name != "FIRSTFAULT_REPLICA"}


def _filled(value: str) -> str:
    """Put values in the place of variables, as `docker compose` does."""
    values = {"FIRSTFAULT_TOKENS": "ops:admin:a-secret-of-some-length", "POSTGRES_PASSWORD": "x"}
    return re.sub(r"\$\{(\w+):[?-][^}]*\}", lambda found: values.get(found[1], ""), value)


def test_keys_of_each_service_are_those_that_compose_knows():
    """After the schema of the Compose specification, as far as it is used here."""
    known = {
        "build", "image", "restart", "volumes", "env_file", "depends_on", "stop_grace_period",
        "environment", "ports", "configs", "healthcheck",
    }  # fmt: skip
    for each in SERVICES.values():
        assert set(each) <= known
        assert ("build" in each) != ("image" in each)
        assert each["restart"] in ("no", "always", "on-failure", "unless-stopped")
        waits = each.get("depends_on", {})
        for name, how in waits.items() if isinstance(waits, dict) else ():
            assert how["condition"] in ("service_started", "service_healthy")
            assert how["condition"] == "service_started" or "healthcheck" in _with_image(name)
    assert set(COMPOSE) <= {"name", "services", "configs", "volumes", "x-replica", "x-settings"}


def _with_image(name: str) -> str:
    """A service as text, with that of its image where it is ours."""
    text = str(SERVICES[name])
    image = (ROOT / "Dockerfile").read_text()
    return text + "healthcheck" if name in REPLICAS and "HEALTHCHECK" in image else text


def test_the_image_runs_a_command_that_is_there_and_asks_a_route_for_its_health():
    image = (ROOT / "Dockerfile").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ((command, word),) = re.findall(r'^CMD \["(\w+)", "(\w+)"\]$', image, re.MULTILINE)
    assert command in project["scripts"]
    assert word in typer.main.get_command(command_line).commands
    (extras,) = re.findall(r"^ARG EXTRAS=(\S+)$", image, re.MULTILINE)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    ((port, path),) = re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)", image)
    assert path in {route.path for route in probes.router.routes}
    assert int(port) == Settings.model_fields["port"].default
    door = COMPOSE["configs"]["door"]["content"]
    assert set(re.findall(r"server (\w+):(\d+);", door)) == {(name, port) for name in REPLICAS}


def test_the_door_gives_bodies_and_callers_as_much_time_and_room_as_the_service():
    door = COMPOSE["configs"]["door"]["content"]
    default = {name: field.default for name, field in Settings.model_fields.items()}
    assert int(re.search(r"client_max_body_size (\d+)g;", door)[1]) << 30 >= int(
        default["max_upload_bytes"]
    )
    assert int(re.search(r"proxy_read_timeout (\d+)s", door)[1]) > 600  # of `?wait=`
    grace = int(re.fullmatch(r"(\d+)s", REPLICAS["one"]["stop_grace_period"])[1])
    assert grace > default["drain_seconds"]
