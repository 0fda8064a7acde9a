# Everything needs only Python 3.11 or newer with venv, and make. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
CONFIG ?=
REPORT_OPTIONS ?=
PYTEST_OPTIONS ?=

.DEFAULT_GOAL := help
.PHONY: help install report test lint types bench lock format clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(VENV)/.installed  ## make .venv with the locked dependencies and gangline in it

report: install  ## simulate (once), ingest and render every report; CONFIG=path for your own cluster
	@$(BIN)/gangline report $(if $(CONFIG),-c $(CONFIG)) $(REPORT_OPTIONS)

test: $(VENV)/.installed-test  ## lint, types, and all tests (browser tests where Chromium is)
	@$(MAKE) --no-print-directory lint types
	@$(BIN)/python -m pytest -q -n auto $(PYTEST_OPTIONS)

lint: $(VENV)/.installed-test
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .

types: $(VENV)/.installed-test
	@$(BIN)/mypy --no-error-summary

bench: $(VENV)/.installed-bench  ## speed and memory, each as a ratio to a peer in the same run
	@$(BIN)/python -m tests.bench

lock: $(VENV)/.installed-test  ## resolve the dependencies again into the lock files (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --extra test -c requirements.lock pyproject.toml -o requirements-test.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --extra test --extra bench -c requirements-test.lock pyproject.toml -o requirements-bench.lock

format: $(VENV)/.installed-test  ## lay the code out
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .

clean:  ## remove what was made: .venv, the simulated cluster, warehouses, rendered reports
	rm -rf $(VENV) reports/*/ data/*/warehouse.duckdb* data/*/telemetry data/reference/raw data/reference/SIMULATED* data/reference/truth.json

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "gangline needs Python 3.11 or newer, $(PYTHON) is older: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv: install it (Debian: apt install python3-venv)" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.lock pyproject.toml | $(VENV)/bin/python
	@echo "installing the locked dependencies into $(VENV) (once, about a minute)"
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.installed-test: requirements-test.lock | $(VENV)/.installed
	@$(PIP) --require-hashes -r requirements-test.lock
	@touch $@

# Peers that gangline itself does not need. Where one has no wheel for this machine, its rows say so.
$(VENV)/.installed-bench: requirements-bench.lock | $(VENV)/.installed-test
	@if $(PIP) --require-hashes -r requirements-bench.lock; then touch $@; else echo "a peer could not be installed: its rows are skipped" >&2; fi
