"""Tokens with scopes, the rate that one caller may ask at, and what a browser may not."""

import pytest

from tests.api.server import running

SECRETS = {
    "feeder": "submit:feeder-secret-0001",
    "reader": "read:reader-secret-0001",
    "chief": "admin:chief-secret-00001",
    "both": "submit+read:both-secret-000001",
}
TOKENS = ",".join(f"{name}:{rest}" for name, rest in SECRETS.items())


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {SECRETS[name].partition(':')[2]}"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    with running(tmp_path_factory.mktemp("guarded"), tokens=TOKENS) as server:
        yield server


def post(client, **headers: str):
    return client.post("/v1/diagnoses", content=b"cause KeyError", headers=headers)


def test_without_a_token_nothing_is_told_but_that_the_service_lives(guarded):
    with guarded.client() as client:
        assert client.get("/healthz").status_code == 200
        for answer in (post(client), client.get("/v1/diagnoses"), client.get("/metrics")):
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.json()["type"] == "urn:firstfault:problem:unauthorized"


@pytest.mark.parametrize(
    "given", [b"Bearer wrong-secret-0001", b"Basic Zm9vOmJhcg==", b"Bearer", b"Bearer \xe9", b"x"]
)
def test_what_is_no_token_is_refused(guarded, given):
    with guarded.client() as client:
        answer = client.get("/v1/diagnoses", headers=[(b"Authorization", given)])
        assert answer.status_code == 401


@pytest.mark.parametrize(
    ("name", "submits", "reads"),
    [("feeder", 202, 403), ("reader", 403, 200), ("chief", 202, 200), ("both", 202, 200)],
)
def test_a_token_may_do_what_its_scopes_say(guarded, name, submits, reads):
    with guarded.client() as client:
        assert post(client, **bearer(name)).status_code == submits
        assert client.get("/v1/diagnoses", headers=bearer(name)).status_code == reads


def test_a_caller_that_asks_too_often_is_told_when_to_come_back(tmp_path):
    with running(tmp_path, requests_per_minute=3) as server, server.client() as client:
        answers = [client.get("/v1/diagnoses") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
        assert client.get("/healthz").status_code == 200


def test_guessing_tokens_is_counted_too(tmp_path):
    chosen = {"tokens": TOKENS, "requests_per_minute": 3}
    with running(tmp_path, **chosen) as server, server.client() as client:
        answers = [post(client, Authorization=f"Bearer guess-number-{n:06}") for n in range(4)]
        assert [answer.status_code for answer in answers] == [401, 401, 401, 429]
        assert post(client, **bearer("feeder")).status_code == 202


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""]
)
def test_without_tokens_a_page_of_another_site_cannot_use_the_browser(client, host):
    assert post(client, Host=host).status_code in (400, 403)


def test_secrets_are_not_logged(guarded):
    told = guarded.log.read_text()
    assert not [rest for rest in SECRETS.values() if rest.partition(":")[2] in told]
