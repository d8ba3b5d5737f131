# Thin: each line is a command a person could type. `make` alone explains itself.
PYTHON ?= python3
CAMPAIGN ?= quick
STAMP := .venv/.onesided-complete
# for what is called after the set-up; the set-up itself must not find a half-made Python
INSTALLED := PATH="$(CURDIR)/.venv/bin:$$PATH"
# where everything is that can be made again: build, or a folder in the user's cache
BUILD := .venv/bin/python -c 'from onesided.system import paths; print(paths.build_dir())'
C_SOURCES = $(shell git ls-files '*.c' '*.h')
TEST_OPTIONS ?=
QUICK ?=
# tests that do not measure run side by side, two for each core, because they often wait; the others
# come last, each alone on the machine
WORKERS ?= $(shell echo $$((2 * $$(nproc) < 16 ? 2 * $$(nproc) : 16)))
TESTS := python -m pytest --numprocesses $(WORKERS)
IMAGE ?= all
BOOTSTRAP ?= docker
# the kernels have no warning; with one MPI that is an error here, elsewhere it must not stop a build
LINT_MPI := mpich-5.0.2

# what a shell has for another Python, or for another make
unexport PYTHONPATH PYTHONHOME PYTHONSAFEPATH PYTHONSTARTUP PYTHONNOUSERSITE PYTHONOPTIMIZE
unexport PYTHONWARNINGS PYTHONUSERBASE PYTHONPLATLIBDIR PYTHONIOENCODING

# a campaign starts Python some hundred times: without its bytecode everything takes nearly twice as long
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup report test test-all mutants lint peers environments container lock clean
.DEFAULT_GOAL := help

help: ## say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/make \1|\2/' | \
	  while IFS='|' read -r target text; do printf '%-18s %s\n' "$$target" "$$text"; done

setup: $(STAMP) ## install what requirements.lock names into .venv (no root)

# The script holds a lock and writes the stamp last, so that it may be interrupted and run twice.
$(STAMP): requirements.lock pyproject.toml tools/setup.py
	@command -v $(PYTHON) >/dev/null || \
	  { echo "setup: found no $(PYTHON); expected Python 3.11 or newer" >&2; exit 2; }
	@$(PYTHON) tools/setup.py

report: setup ## install the MPIs, run the campaign (CAMPAIGN=quick, papers), write the report
	@$(INSTALLED) onesided run $(CAMPAIGN)

environments: setup ## install and probe the MPIs of config/environments.yaml
	@$(INSTALLED) onesided environments

container: setup ## build a container image (IMAGE=all, mpich; BOOTSTRAP=debootstrap without a registry)
	@$(INSTALLED) onesided container build $(IMAGE) --bootstrap $(BOOTSTRAP)

test: setup ## see whether everything works here (5 to 15 minutes on two cores); says what was skipped and why
	@$(INSTALLED) $(TESTS) -m "not slow" $(TEST_OPTIONS)

test-all: setup ## run every test there is (30 to 60 minutes on two cores)
	@$(INSTALLED) $(TESTS) $(TEST_OPTIONS)

mutants: setup ## change one place at a time and see a test fail (QUICK=--quick: one to two hours)
	@$(INSTALLED) python tools/mutants.py $(QUICK)

lint: setup ## check style, format and warnings of Python and C
	@$(INSTALLED) ruff check .
	@$(INSTALLED) ruff format --check .
	@$(INSTALLED) clang-format --dry-run -Werror $(C_SOURCES)
	@$(INSTALLED) onesided environments $(LINT_MPI)
	@$(INSTALLED) cmake -S src/kernels -B build/lint -G Ninja --log-level=WARNING \
	  -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
	  -DMPI_C_COMPILER="$$($(BUILD))/environments/$(LINT_MPI)/prefix/bin/mpicc" >/dev/null
	@$(INSTALLED) cmake --build build/lint

peers: setup ## measure the harness beside the Intel MPI Benchmarks and, where OSU_HOME says they are, OSU's
	@$(INSTALLED) python benchmarks/peers.py

lock: setup ## resolve requirements.in again into requirements.lock (with Python 3.11)
	@$(INSTALLED) pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url \
	  --no-emit-find-links --no-emit-trusted-host --output-file=requirements.lock requirements.in

clean: ## remove what can be made again: .venv and build (results stay)
	@[ ! -e $(STAMP) ] || rm -rf "$$(env -u ONESIDED_BUILD $(BUILD))"
	rm -rf .venv build
