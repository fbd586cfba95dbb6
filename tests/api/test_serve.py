import socket

import pytest

from app.cli.serve import serve
from app.errors import UsageError
from app.settings import Settings


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch, tmp_path):
    for name in ("config", *Settings.model_fields):
        monkeypatch.delenv(f"FIRSTFAULT_{name.upper()}", raising=False)
    monkeypatch.setenv("FIRSTFAULT_DATA_DIR", str(tmp_path / "data"))


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org"])
def test_an_address_that_others_can_reach_is_refused_for_want_of_tokens(host):
    with pytest.raises(UsageError, match="FIRSTFAULT_TOKENS"):
        serve(host=host)


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "many"), ("WORKERS", "0"), ("CONFIG", "/no/such/file.toml")]
)
def test_a_setting_that_cannot_be_meant_is_named(monkeypatch, name, value):
    monkeypatch.setenv(f"FIRSTFAULT_{name}", value)
    with pytest.raises(UsageError, match=f"FIRSTFAULT_{name}"):
        serve()


def test_a_config_file_that_is_no_toml_is_named(monkeypatch, tmp_path):
    (tmp_path / "f.toml").write_text("port: 8000\n")
    monkeypatch.setenv("FIRSTFAULT_CONFIG", str(tmp_path / "f.toml"))
    with pytest.raises(UsageError, match="FIRSTFAULT_CONFIG"):
        serve()


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port}: Address already in use"):
            serve(port=port)


def test_a_database_that_cannot_be_meant_ends_the_start(monkeypatch):
    monkeypatch.setenv("FIRSTFAULT_DATABASE_URL", "nonsense")
    with pytest.raises(UsageError, match="FIRSTFAULT_DATABASE_URL"):
        serve(port=0)
