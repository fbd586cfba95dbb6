"""The one reader of the environment.

Every setting is an environment variable `FIRSTFAULT_<NAME>` or a key of the TOML file that
`FIRSTFAULT_CONFIG` names; the environment wins. The defaults work on one machine.
"""

import os
import re
import socket
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    NonNegativeFloat,
    SecretStr,
    StringConstraints,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from app import spelt
from app.tokens import Token

_PACKAGE = Path(__file__).parent
# What else is called so: the place of the TOML file, a port of compose.yaml, and what Kubernetes
# tells every container of a Service that is named firstfault.
_OTHERS = re.compile(r"FIRSTFAULT_(CONFIG|DOOR_PORT|SERVICE_(HOST|PORT\w*)|PORT_\d+_(TCP|UDP)\w*)")


def _shipped(name: str) -> Path:
    """Prefer a folder of the installed package; a source tree keeps it beside the code."""
    packaged = _PACKAGE / "data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name


LogRoot = Annotated[str, StringConstraints(pattern=r"^s3://[a-z0-9.-]+(/|$)")] | Path


class Listener(BaseModel):
    """Whom to tell of diagnoses, and of which; an empty filter lets all through."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    url: SecretStr  # those of chat hooks are as good as a password
    form: Literal["json", "slack"] = "json"
    secret: SecretStr | None = None
    causes: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    confidences: tuple[str, ...] = ()


class Settings(BaseSettings):
    """What an operator can choose."""

    model_config = SettingsConfigDict(
        env_prefix="FIRSTFAULT_",
        env_ignore_empty=True,  # `${FIRSTFAULT_MODEL:-}` of a compose file names no model
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )

    data_dir: Path = Field(
        default=Path("data"),
        description="folder for the database, uploaded logs and caches; made if it is missing",
    )
    cache_dir: Path = Field(
        default_factory=lambda: Path.home() / ".cache" / "firstfault",
        description="folder for compiled rules; may be emptied at any time",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="SQLAlchemy URL of the database; default: a SQLite file in data_dir",
    )
    rules_dir: Path = Field(
        default_factory=lambda: _shipped("rules"),
        description="folder of rules; default: those that are shipped",
    )
    prompts_dir: Path = Field(
        default_factory=lambda: _shipped("prompts"),
        description="folder of prompts; default: those that are shipped",
    )
    fixtures_dir: Path = Field(
        default_factory=lambda: _shipped("fixtures"),
        description="folder of labelled logs, none of whose evidence a written rule may hide or "
        "contradict; default: those that are shipped",
    )
    log_roots: Annotated[tuple[LogRoot, ...], NoDecode, BeforeValidator(spelt.places)] = Field(
        default=(),
        description="folders and s3://bucket/prefix places from which file:// and s3:// log URIs "
        "may be read, separated by colons",
    )
    s3_endpoint: str | None = Field(
        default=None,
        pattern="^https?://",
        description="URL of an object store that speaks S3 (extra `s3`); default: Amazon's; its "
        "keys come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or whatever boto finds",
    )
    host: str = Field(default="127.0.0.1", description="address that the service listens on")
    port: Annotated[int, BeforeValidator(spelt.port)] = Field(
        default=spelt.DEFAULT_PORT, ge=0, le=65535, description="its port; 0 takes a free one"
    )
    workers: int = Field(
        default_factory=lambda: min(os.cpu_count() or 1, 8),
        ge=1,
        le=256,
        description="processes that read logs, each one log at a time; default: one a core, to 8",
    )
    dask_scheduler: str | None = Field(
        default=None,
        description="address of a Dask scheduler (tcp://host:8786) whose workers reclassify; "
        "default: processes on this machine",
    )
    queue_limit: int = Field(
        default=1000, ge=1, description="diagnoses that may wait; further ones are told to retry"
    )
    waiting_limit: int = Field(
        default=5000,
        ge=1,
        description="reported exits whose logs may be waited for, beside those; further ones are "
        "told to retry",
    )
    max_upload_bytes: ByteSize = Field(
        default=ByteSize(2 << 30), ge=1, description="largest body, as sent (compressed or not)"
    )
    max_log_bytes: ByteSize = Field(
        default=ByteSize(20 << 30), ge=1, description="largest log, decompressed"
    )
    digest_tokens: int = Field(
        default=6000, ge=200, le=200_000, description="size of the digest of a log"
    )
    diagnosis_seconds: float = Field(
        default=900, gt=0, description="time after which a diagnosis is given up"
    )
    drain_seconds: float = Field(
        default=20,
        ge=0,
        description="time that running diagnoses are given when the service is told to stop; "
        "what is not done by then is made again at the next start",
    )
    replica: str | None = Field(
        default=None,
        max_length=256,
        description="name of this process among those that share a database; one that restarts "
        "under its name resumes its work at once; default: host name and port",
    )
    tokens: Annotated[tuple[Token, ...], NoDecode, BeforeValidator(spelt.tokens)] = Field(
        default=(),
        description="access tokens as name:scope+scope:secret, separated by commas; scopes are "
        "submit, read, feedback, admin; without any the service listens on loopback only",
    )
    requests_per_minute: int = Field(
        default=6000, ge=1, description="that one token, or one address without, may make"
    )
    webhook_secrets: Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(spelt.places)] = (
        Field(
            default=(),
            description="secrets (whsec_…) that sign reports of job exits, separated by commas; "
            "any of them is taken, so that they can be changed one after the other",
        )
    )
    listeners: tuple[Listener, ...] = Field(
        default=(),
        description="who is told when a diagnosis has ended: a JSON list (or TOML tables) of name, "
        "url, form (json or slack), secret, and filters causes, domains, clusters, confidences",
    )
    callback_hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(spelt.places)] = Field(
        default=(), description="hosts that the callback_url of a request may name"
    )
    callback_private: bool = Field(
        default=False,
        description="whether these may be at addresses that the internet does not know",
    )
    retry_budget: int = Field(
        default=3,
        ge=1,
        le=100,
        description="how often the same fault of a job, without progress, may be tried again",
    )
    quiet_log_seconds: float = Field(
        default=10,
        ge=0,
        le=3600,
        description="after a job's exit its log is read once it has not changed for so long",
    )
    log_wait_seconds: float = Field(
        default=120, ge=0, le=86_400, description="but after this time in any case"
    )
    late_log_seconds: float = Field(
        default=300,
        ge=0,
        le=86_400,
        description="time after which the log is looked at again, and read again if it has "
        "changed; 0 never does",
    )
    min_free_bytes: ByteSize = Field(
        default=ByteSize(256 << 20),
        ge=0,
        description="uploads are refused while data_dir has less free space than this",
    )
    retention_days: float = Field(
        default=30, ge=0, description="days that uploaded logs are kept; 0 keeps them for ever"
    )
    keep_logs_days: float = Field(
        default=365,
        ge=0,
        description="days that the compressed log of a diagnosis is kept, from which it can be "
        "judged again; 0: for ever",
    )
    keep_records_days: float = Field(
        default=90,
        ge=0,
        description="days that is kept what only tells how it went: replaced answers, messages "
        "that were sent or given up, calls to models, ended reclassifications and durable work; "
        "0: for ever",
    )
    keep_results_days: float = Field(
        default=0,
        ge=0,
        description="days that a diagnosis is kept, with all that belongs to it, unless a person "
        "has confirmed or corrected it; 0: for ever",
    )
    memory: bool = Field(
        default=True, description="remember failures, and look for those that were alike"
    )
    memory_limit: int = Field(
        default=100_000, ge=1, description="incidents whose words are searched; memory: 2 kB each"
    )
    memory_seconds: float = Field(
        default=2, gt=0, le=3600, description="time that a diagnosis waits for precedents"
    )
    embedder: str = Field(
        default="hashing",
        description="what compares incidents: `hashing`, `minilm` (extra `embeddings`), or the "
        "folder of a sentence-transformers model",
    )
    chroma_url: str | None = Field(
        default=None,
        pattern="^https?://",
        description="Chroma server for the index of incidents, as `http://host:8000`; "
        "default: a folder in data_dir",
    )
    model: str | None = Field(
        default=None, description="language model to ask where rules leave a doubt; default: none"
    )
    model_base_url: Annotated[str, AfterValidator(spelt.address)] = Field(
        default="https://api.openai.com/v1",
        pattern="^https?://",
        description="its endpoint, of any server that speaks OpenAI's chat completions",
    )
    model_api_key: Annotated[SecretStr | None, AfterValidator(spelt.key)] = Field(
        default=None, description="its key; local servers need none"
    )
    model_hides_addresses: bool = Field(
        default=False, description="whether IP addresses are masked too in what it is shown"
    )
    model_context_tokens: int = Field(
        default=32_768, ge=8_000, description="its context window; what it is shown shrinks to fit"
    )
    model_seconds: float = Field(
        default=120,
        gt=0,
        le=86_400,
        description="time for the question about one diagnosis, with a second look, retries and "
        "repair",
    )
    model_parallel: int = Field(
        default=4, ge=1, description="calls that each worker may run at once"
    )
    model_workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description="processes that put doubtful diagnoses to the model, one at a time each",
    )
    model_prices: Annotated[
        tuple[NonNegativeFloat, NonNegativeFloat] | None, NoDecode, BeforeValidator(spelt.pair)
    ] = Field(
        default=None,
        description="what a million tokens cost that are asked and answered, as `0.4,1.6`",
    )
    model_tokens: int = Field(
        default=100_000, ge=0, description="tokens that one diagnosis may take; 0: any number"
    )
    model_day_tokens: int = Field(
        default=0, ge=0, description="tokens that a day (UTC) may take; 0: any number"
    )
    model_day_cost: float = Field(
        default=0, ge=0, description="cost of a day, in the money of the prices; 0: any"
    )

    @field_validator("model_day_cost")
    @classmethod
    def _has_prices(cls, cost: float, info: ValidationInfo) -> float:
        """Refuse a limit that would never be reached."""
        if cost and not any(info.data.get("model_prices") or ()):
            raise ValueError("without FIRSTFAULT_MODEL_PRICES every call costs nothing")
        return cost

    rule_writer: bool = Field(
        default=True,
        description="have the model write a signal where people confirm a cause that rules missed",
    )
    rule_confirmations: int = Field(
        default=1, ge=1, le=100, description="confirmed failures that are alike, before it does"
    )
    rule_approval: Literal["person", "automatic"] = Field(
        default="person",
        description="who approves a written signal that passed all its gates",
    )
    filters: bool = Field(
        default=True,
        description="have the model write filters for types of jobs whose logs pass the digest",
    )
    filter_answers: int = Field(
        default=5, ge=1, le=20, description="answers that vote on such filters"
    )

    @staticmethod
    def unknown() -> list[str]:
        """Name the variables of the environment that look like settings and are none."""
        known = {f"FIRSTFAULT_{name.upper()}" for name in Settings.model_fields}
        names = [name for name in os.environ if name.upper().startswith("FIRSTFAULT_")]
        return sorted(
            name for name in names if name.upper() not in known and not _OTHERS.fullmatch(name)
        )

    @property
    def database(self) -> str:
        """The URL of the database that is meant."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{self.data_dir.absolute() / 'firstfault.db'}"

    @property
    def learned_dir(self) -> Path:
        """The folder of the rules that were learned here, read beside `rules_dir`."""
        return self.data_dir.absolute() / "rules.learned"

    @property
    def executor(self) -> str:
        """The name under which this process does durable work."""
        if self.replica:
            return self.replica
        return "one" if self.is_alone else f"{socket.gethostname()}:{self.port or os.getpid()}"

    @property
    def is_alone(self) -> bool:
        """Whether no other process can share the database."""
        return self.database.startswith("sqlite")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let arguments win over the environment, and the environment over the file."""
        file = os.environ.get("FIRSTFAULT_CONFIG")
        if file and not Path(file).is_file():  # pydantic would pass over it in silence
            raise FileNotFoundError(f"there is no file {file}")
        toml = (TomlConfigSettingsSource(settings_cls, toml_file=file),) if file else ()
        return (init_settings, env_settings, *toml)
