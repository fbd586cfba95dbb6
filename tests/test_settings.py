from pathlib import Path

import pytest
from pydantic import ValidationError

from app.service.misspelt import misspelt
from app.settings import Settings


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(f"FIRSTFAULT_{name.upper()}", raising=False)
    monkeypatch.delenv("FIRSTFAULT_CONFIG", raising=False)


def test_the_defaults_work_on_one_machine():
    settings = Settings()
    assert settings.host == "127.0.0.1"
    assert settings.log_roots == ()
    assert settings.database.startswith("sqlite:////")
    assert settings.workers >= 1


def test_the_environment_wins_over_the_file(monkeypatch, tmp_path):
    file = tmp_path / "firstfault.toml"
    file.write_text('port = 9000\nqueue_limit = 7\nlog_roots = ["/x", "/y"]\n')
    monkeypatch.setenv("FIRSTFAULT_CONFIG", str(file))
    monkeypatch.setenv("FIRSTFAULT_PORT", "9001")
    settings = Settings()
    assert (settings.port, settings.queue_limit) == (9001, 7)
    assert settings.log_roots == (Path("/x"), Path("/y"))


def test_what_kubernetes_says_of_a_service_of_that_name_is_no_port(monkeypatch):
    monkeypatch.setenv("FIRSTFAULT_PORT", "tcp://10.1.2.3:80")
    assert Settings().port == 8000


def test_roots_are_separated_as_in_path_and_sizes_may_have_units(monkeypatch):
    monkeypatch.setenv("FIRSTFAULT_LOG_ROOTS", "/a:/b")
    monkeypatch.setenv("FIRSTFAULT_MAX_UPLOAD_BYTES", "5MiB")
    settings = Settings()
    assert settings.log_roots == (Path("/a"), Path("/b"))
    assert settings.max_upload_bytes == 5 << 20


def test_a_misspelt_key_in_the_file_is_refused(monkeypatch, tmp_path):
    file = tmp_path / "firstfault.toml"
    file.write_text("prot = 9000\n")
    monkeypatch.setenv("FIRSTFAULT_CONFIG", str(file))
    with pytest.raises(ValidationError, match="prot"):
        Settings()


def test_a_password_in_the_database_url_is_not_printed(monkeypatch):
    monkeypatch.setenv("FIRSTFAULT_DATABASE_URL", "postgresql://me:hunter2@db/x")
    assert "hunter2" not in repr(Settings())
    assert "hunter2" in Settings().database


def test_every_setting_says_what_it_is_for():
    assert all(field.description for field in Settings.model_fields.values())


def test_prices_are_two_numbers(monkeypatch):
    monkeypatch.setenv("FIRSTFAULT_MODEL_PRICES", "0.4, 1.6")
    assert Settings().model_prices == (0.4, 1.6)
    monkeypatch.setenv("FIRSTFAULT_MODEL_PRICES", "0.4")
    with pytest.raises(ValidationError):
        Settings()


def test_the_key_of_the_model_is_not_printed(monkeypatch):
    monkeypatch.setenv("FIRSTFAULT_MODEL_API_KEY", "sk-hunter2")
    assert "hunter2" not in repr(Settings())


def test_the_line_break_behind_a_key_is_none_of_it(monkeypatch):
    monkeypatch.setenv("FIRSTFAULT_MODEL_API_KEY", "sk-hunter2\n")
    assert Settings().model_api_key.get_secret_value() == "sk-hunter2"


@pytest.mark.parametrize("key", ["sk-hunt\ner2", "sk-hünter2"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_told(key):
    with pytest.raises(ValidationError, match="no HTTP header") as caught:
        Settings(model_api_key=key)
    assert key not in str(caught.value)


def test_an_empty_variable_is_none(monkeypatch):
    monkeypatch.setenv("FIRSTFAULT_MODEL", "")
    assert Settings().model is None


@pytest.mark.parametrize(
    "chosen",
    [
        {"model_seconds": float("inf")},
        {"model_seconds": 1e300},
        {"memory_seconds": 1e300},
        {"model_prices": "nan,1"},
        {"model_prices": "1,-1"},
    ],
)
def test_a_number_that_nothing_can_be_reckoned_with_is_refused(chosen):
    with pytest.raises(ValidationError):
        Settings(**chosen)


def test_a_limit_of_cost_needs_prices():
    with pytest.raises(ValidationError, match="FIRSTFAULT_MODEL_PRICES"):
        Settings(model_day_cost=5)
    assert Settings(model_day_cost=5, model_prices="0.4,1.6").model_day_cost == 5


@pytest.mark.parametrize(
    "url",
    ["http:///v1", "http://gpu-1:99999/v1", "http://gpu-1:0/v1", "http://[::1/v1", "http://a b/v1"],
)
def test_an_address_of_the_model_that_cannot_be_is_refused(url):
    with pytest.raises(ValueError, match="model_base_url"):
        Settings(model_base_url=url)


@pytest.mark.parametrize("url", ["http://gpu-1:8000/v1", "https://[::1]:8443/v1"])
def test_an_address_of_the_model_is_kept_as_it_is(url):
    assert Settings(model_base_url=url).model_base_url == url


def test_variables_that_are_no_settings_are_named_with_the_nearest_one(monkeypatch):
    monkeypatch.setenv("FIRSTFAULT_DATABSE_URL", "postgresql://db/x")
    monkeypatch.setenv("firstfault_zzzz", "1")
    monkeypatch.setenv("firstfault_port", "9000")  # names may be written either way
    assert misspelt() == [
        "FIRSTFAULT_DATABSE_URL is no setting; did you mean FIRSTFAULT_DATABASE_URL?",
        "firstfault_zzzz is no setting",
    ]


@pytest.mark.parametrize(
    "name", ["CONFIG", "DOOR_PORT", "SERVICE_HOST", "SERVICE_PORT_HTTP", "PORT_8000_TCP_ADDR"]
)
def test_variables_of_compose_and_kubernetes_are_no_misspelt_settings(monkeypatch, name):
    monkeypatch.setenv(f"FIRSTFAULT_{name}", "x")
    assert misspelt() == []
