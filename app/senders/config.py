"""The one file that tells a sender where to report to, and how.

    [service]
    url = https://firstfault.example.org
    secret_file = /etc/firstfault/secret

It stands beside the program, under its name with `.ini`, since schedulers start hooks without
arguments and with an environment of their own.
"""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class Unusable(Exception):
    """What an operator has to put right before anything can be sent."""


@dataclass(frozen=True)
class Service:
    """Where reports go; `patience_seconds` is how long one process tries while it is away."""

    url: str
    secret_file: Path
    spool: Path = Path("/var/spool/firstfault")
    ca_file: str | None = None
    patience_seconds: float = 3600


@dataclass(frozen=True)
class Config:
    """The file, read: the service, and what the part of one scheduler is told."""

    service: Service
    parts: Mapping[str, Mapping[str, str]]

    def part(self, name: str, known: tuple[str, ...]) -> Mapping[str, str]:
        """Give the keys of one scheduler; raise Unusable for one that means nothing."""
        return _checked(name, self.parts.get(name, {}), known)


def read(file: Path) -> Config:
    """Read a configuration; raise Unusable with what is wrong in it."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        with file.open(encoding="utf-8") as opened:
            parser.read_file(opened)
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        raise Unusable(f"{file}: {error}") from error
    parts = {name: dict(parser[name]) for name in parser.sections()}
    known = ("url", "secret_file", "spool", "ca_file", "patience_seconds")
    told = _checked("service", parts.pop("service", {}), known)
    try:
        service = Service(
            url=told["url"].rstrip("/"),
            secret_file=Path(told["secret_file"]),
            spool=Path(told.get("spool", Service.spool)),
            ca_file=told.get("ca_file"),
            patience_seconds=float(told.get("patience_seconds", Service.patience_seconds)),
        )
    except KeyError as error:
        raise Unusable(f"{file}: [service] does not give {error}") from error
    except ValueError as error:
        raise Unusable(f"{file}: patience_seconds: {error}") from error
    if not service.url.startswith(("http://", "https://")):
        raise Unusable(f"{file}: url is no http:// or https:// address: {service.url!r}")
    return Config(service, parts)


def _checked(name: str, told: Mapping[str, str], known: tuple[str, ...]) -> Mapping[str, str]:
    if strange := sorted(set(told) - set(known)):
        raise Unusable(f"[{name}] knows no {strange[0]}; it knows {', '.join(known)}")
    return told
