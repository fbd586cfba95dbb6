import socket

import pytest

from app.errors import UsageError
from app.notify.guard import checked, target


def resolved(monkeypatch, *addresses):
    def found(host, port, **_):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", found)


def test_only_named_hosts_may_be_called():
    assert checked("https://ci.example/x", ["ci.example"]) == "https://ci.example/x"
    assert checked("https://CI.example:8443/x", ["ci.example"])
    with pytest.raises(UsageError, match="CALLBACK_HOSTS"):
        checked("https://other.example/x", ["ci.example"])


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "gopher://ci.example/",
        "https://",
        "https://user:word@ci.example/",
        "https://ci.example@evil.example/",
        "https://ci.example:99999/",
        "https://ci.example/a b",
        "https://ci.example/\r\nX: y",
        "https://ci.example/é",
        "https://ci.example/" + "a" * 3000,
        "https://[::1/",
    ],
)
def test_urls_that_cannot_be_meant_are_refused(url):
    with pytest.raises(UsageError):
        checked(url, ["ci.example"])


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
        "100.64.0.1", "224.0.0.1", "::1", "fe80::1%eth0", "fd00::1", "::ffff:169.254.169.254",
        "2002:7f00:1::", "64:ff9b::7f00:1",
    ],
)  # fmt: skip
def test_names_that_lead_inside_are_refused_unless_that_is_allowed(monkeypatch, address):
    resolved(monkeypatch, address)
    with pytest.raises(UsageError, match="no public address"):
        target("https://ci.example/x", private=False)
    assert target("https://ci.example/x", private=True).address == address


def test_one_inner_address_among_public_ones_is_enough_to_refuse(monkeypatch):
    resolved(monkeypatch, "93.184.216.34", "127.0.0.1")
    with pytest.raises(UsageError, match=r"leads to 127\.0\.0\.1"):
        target("https://ci.example/x", private=False)


def test_the_checked_address_is_the_one_to_connect_to(monkeypatch):
    resolved(monkeypatch, "93.184.216.34")
    found = target("https://ci.example/x", private=False)
    assert (found.host, found.address) == ("ci.example", "93.184.216.34")


def test_a_host_that_is_not_found_is_named():
    with pytest.raises(UsageError, match=r"nowhere\.invalid"):
        target("https://nowhere.invalid/", private=True)
