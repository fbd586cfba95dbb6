"""Find the address of a listener, and keep to those that may be called.

Whoever may ask for a diagnosis may name a callback, so without care the service would call the
cloud's metadata service, or a database next door, in the caller's place. The name is resolved
once, every address that it has is checked, and the connection is made to the address that was
checked: a second look-up could give another.
"""

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from app.errors import UsageError

_MOST_URL = 2048
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052


@dataclass(frozen=True, slots=True)
class Target:
    """Where to connect to, and under which name."""

    url: str
    host: str
    address: str


def checked(url: str, hosts: Sequence[str]) -> str:
    """Give back the URL of a callback; raise UsageError unless it leads to one of the hosts."""
    parts = _split(url)
    if (parts.hostname or "") not in {host.lower() for host in hosts}:
        raise UsageError(
            f"callbacks to {(parts.hostname or '')[:64]!r} are not allowed: "
            "FIRSTFAULT_CALLBACK_HOSTS does not name it"
        )
    return url


def target(url: str, *, private: bool) -> Target:
    """Resolve the host of a URL; raise UsageError where an address of it may not be called.

    `private` allows addresses that the internet does not know: loopback, link-local, site-local.
    Blocks while the name is looked up.
    """
    parts = _split(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"the host {host[:64]!r} cannot be found: {error}") from error
    addresses = [str(entry[4][0]) for entry in found]
    if refused := [each for each in addresses if not (private or _is_public(each))]:
        raise UsageError(f"{host[:64]!r} leads to {refused[0]}, which is no public address")
    return Target(url, host, addresses[0])


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"no URL: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise UsageError("a callback URL has the form https://host/path")
    if parts.username is not None or parts.password is not None:
        raise UsageError("a callback URL holds no user name and no password")
    if len(url) > _MOST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise UsageError(f"a callback URL has at most {_MOST_URL} printable ASCII characters")
    return parts


def _is_public(address: str) -> bool:
    known = ipaddress.ip_address(address.partition("%")[0])
    inner = _inner(known) if isinstance(known, ipaddress.IPv6Address) else None
    return known.is_global and not known.is_multicast and (inner is None or inner.is_global)


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The address that a gateway would turn it into."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
