"""Listeners and callbacks: told once, signed, tried again, and never led inside."""

import json
import time

import pytest
from standardwebhooks import Webhook

from tests.api.server import running
from tests.receiver import receiver
from tests.waiting import until

SECRET = "whsec_" + "QUFB" * 8


def upload(client, cause: str, **query):
    answer = client.post("/v1/diagnoses", content=f"cause {cause}", params={"wait": 60, **query})
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def serving(folder, listeners, **settings):
    told = json.dumps(listeners)
    return running(folder, listeners=told, webhook_secrets=SECRET, **settings)


def deliveries(client, status: str):
    return client.get("/v1/deliveries", params={"status": status}).json()["items"]


def test_a_listener_is_told_once_and_can_check_the_signature(tmp_path):
    with receiver() as heard, serving(tmp_path, [{"name": "bot", "url": heard.url}]) as server:
        with server.client() as client:
            id = upload(client, "KeyError")
            until(lambda: heard.bodies)
            (sent,) = until(lambda: deliveries(client, "sent"))
            time.sleep(0.5)
        (text,) = heard.bodies
        told = Webhook(SECRET).verify(text, heard.headers[0])
        assert (told["type"], told["data"]["id"]) == ("diagnosis.completed", id)
        assert heard.headers[0]["webhook-id"] == sent["id"]
        assert (sent["listener"], sent["host"]) == ("bot", "127.0.0.1")


def test_filters_choose_who_is_told_and_slack_gets_text(tmp_path):
    with receiver() as chat, receiver() as other:
        listeners = [
            {"name": "chat", "url": chat.url, "form": "slack", "causes": ["KeyError"]},
            {"name": "other", "url": other.url, "causes": ["ECCError"], "clusters": ["c9"]},
        ]
        with serving(tmp_path, listeners) as server, server.client() as client:
            upload(client, "KeyError", cluster="c9")
            upload(client, "ECCError", cluster="c1")
            upload(client, "ECCError", cluster="c9")
            until(lambda: chat.bodies and other.bodies)
            time.sleep(0.5)
        assert json.loads(chat.bodies[0])["text"].startswith("*KeyError*")
        assert json.loads(other.bodies[0])["data"]["job"]["cluster"] == "c9"
        assert [len(chat.bodies), len(other.bodies)] == [1, 1]


def test_a_listener_that_stumbles_is_told_again(tmp_path):
    with (
        receiver([500, 204]) as heard,
        serving(tmp_path, [{"name": "bot", "url": heard.url}]) as server,
    ):
        with server.client() as client:
            upload(client, "KeyError")
            (sent,) = until(lambda: deliveries(client, "sent"))
            metrics = client.get("/metrics").text
        assert (sent["tries"], len(heard.bodies)) == (1, 2)
        assert heard.headers[0]["webhook-id"] == heard.headers[1]["webhook-id"]
        for result in ("failed", "sent"):
            told = f'firstfault_deliveries_total{{listener="bot",result="{result}"}} 1.0'
            assert told in metrics


def test_a_listener_that_is_gone_is_dead_until_it_is_revived(tmp_path):
    with (
        receiver([410, 204]) as heard,
        serving(tmp_path, [{"name": "bot", "url": heard.url}]) as server,
        server.client() as client,
    ):
        upload(client, "KeyError")
        (dead,) = until(lambda: deliveries(client, "dead"))
        assert dead["last_error"].startswith("HTTP 410")
        assert client.post(f"/v1/deliveries/{dead['id']}/retry").json()["tries"] == 0
        until(lambda: deliveries(client, "sent"))


def test_a_failed_diagnosis_is_told_of_too(tmp_path):
    with receiver() as heard, serving(tmp_path, [{"name": "bot", "url": heard.url}]) as server:
        with server.client() as client:
            client.post("/v1/diagnoses", content=b"refuse", params={"wait": 60})
        until(lambda: heard.bodies)
        assert json.loads(heard.bodies[0])["type"] == "diagnosis.failed"


def test_a_callback_of_a_request_is_told_where_its_host_is_allowed(tmp_path):
    allowed = {"callback_hosts": "127.0.0.1", "callback_private": True}
    with receiver() as heard, serving(tmp_path, [], **allowed) as server:
        with server.client() as client:
            id = upload(client, "KeyError", callback_url=heard.url)
            until(lambda: heard.bodies)
        assert json.loads(heard.bodies[0])["data"]["id"] == id


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "http://localhost:1/", "https://evil.example/"]
)
def test_callbacks_to_hosts_that_nobody_allowed_are_refused(client, url):
    refused = client.post("/v1/diagnoses", content=b"x", params={"callback_url": url})
    assert refused.status_code == 400
    assert "FIRSTFAULT_CALLBACK_HOSTS" in refused.json()["detail"]


def test_an_allowed_name_that_leads_inside_is_not_called(tmp_path):
    with receiver() as heard, serving(tmp_path, [], callback_hosts="localhost") as server:
        with server.client() as client:
            url = heard.url.replace("127.0.0.1", "localhost")
            upload(client, "KeyError", callback_url=url)
            (waiting,) = until(
                lambda: [each for each in deliveries(client, "pending") if each["tries"]]
            )
        assert "no public address" in waiting["last_error"]
        assert heard.bodies == []


def test_redirects_are_not_followed(tmp_path):
    allowed = {"callback_hosts": "127.0.0.1", "callback_private": True}
    with receiver() as inner, receiver([302], location=inner.url) as heard:
        with serving(tmp_path, [], **allowed) as server, server.client() as client:
            upload(client, "KeyError", callback_url=heard.url)
            until(lambda: heard.bodies)
            (waiting,) = until(
                lambda: [each for each in deliveries(client, "pending") if each["tries"]]
            )
        assert waiting["last_error"].startswith("HTTP 302")
        assert inner.bodies == []
