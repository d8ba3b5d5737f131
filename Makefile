# Thin: each line is a command a person could type. `make` alone explains itself.
PYTHON ?= python3
CAMPAIGN ?= quick
BIN := .venv/bin
STAMP := .venv/.onesided-complete
# the tools of the set-up, and no others, are found by what it calls
export PATH := $(CURDIR)/$(BIN):$(PATH)
C_SOURCES = $(shell git ls-files '*.c' '*.h')
TEST_OPTIONS ?=

.PHONY: help setup report test lint peers environments lock clean
.DEFAULT_GOAL := help

help: ## say what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/make \1|\2/' | \
	  while IFS='|' read -r target text; do printf '%-18s %s\n' "$$target" "$$text"; done

setup: $(STAMP) ## install what requirements.lock names into .venv (no root)

# The script holds a lock and writes the stamp last, so that it may be interrupted and run twice.
$(STAMP): requirements.lock pyproject.toml tools/setup.py
	@$(PYTHON) tools/setup.py

report: setup ## install the MPIs, run the campaign (CAMPAIGN=quick, papers), write the report
	@onesided run $(CAMPAIGN)

environments: setup ## install and probe the MPIs of config/environments.yaml
	@onesided environments

test: setup ## run every test; says what was skipped and why
	@python -m pytest $(TEST_OPTIONS)

lint: setup ## check style and format of Python and C
	@ruff check .
	@ruff format --check .
	@clang-format --dry-run -Werror $(C_SOURCES)

peers: setup ## measure the harness against the IMB-RMA of the Intel MPI environment
	@python benchmarks/peers.py

lock: setup ## resolve requirements.in again into requirements.lock (with Python 3.11)
	@pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url \
	  --no-emit-find-links --no-emit-trusted-host --output-file=requirements.lock requirements.in

clean: ## remove what can be made again: .venv and build (results stay)
	rm -rf .venv build
