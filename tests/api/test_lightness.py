"""The web process leaves what is heavy to its workers, so that it starts soon and stays small."""

import subprocess
import sys

HEAVY = ("numpy", "pyarrow", "hyperscan", "isal", "openai", "chromadb", "app.pipeline")


def test_the_web_process_imports_no_engine_of_its_workers():
    told = "import sys, app.api.app; print(*(set(sys.argv[1:]) & set(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", told, *HEAVY], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == []
