"""The OpenAPI document, put to the test by schemathesis against a server of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.server import running

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
SECONDS = 500  # it takes 50 alone on two cores; a busy machine is given time


@pytest.fixture
def server(tmp_path):
    roots = tmp_path / "logs"
    roots.mkdir()
    (roots / "a.log").write_text("cause KeyError\n")
    with running(tmp_path / "data", log_roots=roots, requests_per_minute=1_000_000) as found:
        yield found


def test_no_request_that_fits_or_misses_the_document_makes_the_service_fail(server, tmp_path):
    program = Path(sys.executable).with_name("schemathesis")
    done = subprocess.run(
        [
            str(program), "run", f"{server.url}/openapi.json",
            "--checks", ",".join(CHECKS), "--phases", "coverage,fuzzing",
            "--max-examples", "5", "--seed", "1", "--request-timeout", "60", "--no-color",
        ],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    told = done.stdout.partition(" FAILURES ")[2] or done.stdout[-6000:]
    assert done.returncode == 0, told[:12_000] + done.stderr[-2000:]
