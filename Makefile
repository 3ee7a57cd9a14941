# make demo    the quick start: train on the small example network, write a report
# make test    all tests
# make lint    style, formatting, types
#
# PYTHON=python3.12 chooses the Python (3.11 or newer) that .venv is made with; an existing .venv is used as it is.
# PYTEST_ARGS="tests/nn -x" is handed to pytest.

PYTHON ?= python3
PYTEST_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.PHONY: help venv venv-dev demo test lint clean
.DELETE_ON_ERROR:

help:
	@sed -n '1,6s/^# \{0,1\}//p' Makefile

venv: $(STAMP)

venv-dev: $(DEV_STAMP)

demo: $(STAMP)
	$(BIN)/python -m attentionmixer.train --config configs/quickstart.yaml

test: $(DEV_STAMP)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(DEV_STAMP)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A half-made environment is removed, or it would be taken for a finished one the next time.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "$(PYTHON) is missing or older than 3.11; name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# The order-only prerequisite: the interpreter's own date says nothing about what is installed.
$(STAMP): requirements.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

$(DEV_STAMP): requirements-dev.lock $(STAMP)
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements-dev.lock
	@touch $@
