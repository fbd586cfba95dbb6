import signal
import subprocess
import sys
from pathlib import Path

import httpx2

from tests.cli.running import ROOT, SHOWCASE, Command


def test_the_fake_model_says_where_it_is_and_ends_when_told(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("model: parrot\nanswers: [{replies: [hello]}]\n")
    command = [sys.executable, "-m", "app.cli.main", "fake-model", "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        url = process.stdout.readline().split("FIRSTFAULT_MODEL_BASE_URL=")[1].strip()
        assert httpx2.get(f"{url}/models").json()["data"][0]["id"] == "parrot"
        process.send_signal(signal.SIGINT)
        assert process.wait(10) in (0, 130)  # as uvicorn was about to serve, or did


def test_a_script_with_faults_is_refused(firstfault: Command, tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("answers: [{replys: [hello]}]\n")
    told = firstfault.refused("fake-model", "--script", script)
    assert "script.yaml:1" in told
    assert "did you mean replies?" in told


def test_a_diagnosis_without_a_model_loads_none_of_its_libraries(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        f"sys.argv = ['firstfault', 'diagnose', '--rules-only', {str(SHOWCASE)!r}]\n"
        "from app.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'openai', 'httpx2', 'uvicorn', 'starlette'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.rstrip().endswith("[]")
