"""An object store for tests: the server of moto in a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import boto3
import httpx2

from tests.postgres import free_port

KEYS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


class Bucket:
    """A bucket named `logs` at an endpoint."""

    name = "logs"

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._client = boto3.client("s3", endpoint_url=endpoint)
        self._client.create_bucket(Bucket=self.name)

    def put(self, key: str, data: bytes) -> None:
        self._client.put_object(Bucket=self.name, Key=key, Body=data)

    def remove(self, key: str) -> None:
        self._client.delete_object(Bucket=self.name, Key=key)

    def close(self) -> None:
        self._client.close()


@contextmanager
def object_store() -> Iterator[Bucket]:
    """Run a store for the length of a block; the keys stand in the environment meanwhile."""
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    before = dict(os.environ)
    os.environ.update(KEYS)
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait_for(endpoint)
        bucket = Bucket(endpoint)
        yield bucket
        bucket.close()
    finally:
        server.kill()
        server.wait()
        os.environ.clear()
        os.environ.update(before)


def _wait_for(endpoint: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            httpx2.get(f"{endpoint}/moto-api/", timeout=5)
        except httpx2.TransportError:
            assert time.monotonic() < end, "moto did not start"
            time.sleep(0.1)
        else:
            return
