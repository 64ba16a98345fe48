# `make demo` and `make test` need Python 3.11 or newer and a package index; they make .venv themselves.

PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?=

VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
EXAMPLE := examples/support-agent
REPORTS := passmuster-report

# The pins apply to the build backend too: pip builds in an isolated environment and takes constraints for it only
# from these variables (older versions of pip read the first, newer ones the second).
PIP := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
	$(BIN)/python -m pip install --quiet
INPUTS := pyproject.toml constraints.txt src/passmuster/_version.py

.PHONY: help demo test lint format bench bench-peers bench-statistics clean
.NOTPARALLEL:

help:
	@echo 'make demo    evaluate a good and a broken version of an example agent'
	@echo 'make test    run the tests'
	@echo 'make lint    check style, types and imports between packages'
	@echo 'make format  format the code'
	@echo 'make bench   run the benchmarks (BENCH_ARGS=--short for a short run)'
	@echo 'make bench-peers        compare the speed with other tools'
	@echo 'make bench-statistics   simulate the coverage of the confidence intervals'
	@echo 'make clean   remove everything that these commands create'
	@echo
	@echo 'PYTHON=python3.12 chooses the interpreter, PYTEST_ARGS="-k args" goes to pytest.'

demo: $(VENV)/.runtime
	@rm -rf $(REPORTS)/good $(REPORTS)/broken
	@mkdir -p $(REPORTS)/good $(REPORTS)/broken
	@echo
	@echo '── Version 2.1.0 of the agent: may it ship? ──'
	@echo '$$ passmuster run $(EXAMPLE) --traces $(EXAMPLE)/traces/good.jsonl'
	@$(BIN)/passmuster run $(EXAMPLE) --traces $(EXAMPLE)/traces/good.jsonl \
		--report json=$(REPORTS)/good/report.json \
		--report junit=$(REPORTS)/good/junit.xml \
		--report sarif=$(REPORTS)/good/report.sarif
	@echo
	@echo '── Version 2.2.0, which went wrong in several ways ──'
	@echo '$$ passmuster run $(EXAMPLE) --traces $(EXAMPLE)/traces/broken.jsonl'
	@status=0; \
	$(BIN)/passmuster run $(EXAMPLE) --traces $(EXAMPLE)/traces/broken.jsonl \
		--report json=$(REPORTS)/broken/report.json \
		--report junit=$(REPORTS)/broken/junit.xml \
		--report sarif=$(REPORTS)/broken/report.sarif || status=$$?; \
	if [ $$status -ne 1 ]; then \
		echo "demo: the broken agent should fail the gate with exit code 1, not $$status" >&2; exit 1; \
	fi
	@echo
	@echo '── The same verdict for machines ──'
	@for report in $(REPORTS)/broken/report.json $(REPORTS)/broken/junit.xml $(REPORTS)/broken/report.sarif; do \
		echo; echo "$$report"; head -n 8 "$$report" | cut -c 1-120 | sed 's/^/    /'; \
	done
	@echo
	@echo 'The good version passed (exit code 0), the broken one did not (exit code 1). All reports:'
	@ls $(REPORTS)/good/* $(REPORTS)/broken/*

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.dev
	$(BIN)/python -m compileall -q src/passmuster
	$(BIN)/python -m bench $(BENCH_ARGS)

# Compares with alternative tools, installed in a separate environment.
bench-peers: $(VENV)/.dev $(PEERS)/.made
	$(BIN)/python -m compileall -q src/passmuster
	$(PEERS)/bin/python bench/peers.py > $(PEERS)/figures.json
	$(BIN)/python -m bench.next_to_peers $(PEERS)/figures.json
	$(BIN)/python -m bench.next_to_ciagent $(PEERS)/bin/python

# Simulates agents whose true rates are known: coverage of the intervals, false alarms and power of the tests.
bench-statistics: $(VENV)/.dev
	$(BIN)/python -m bench.simulation

$(PEERS)/.made: bench/peers.txt
	@rm -rf $(PEERS)
	@$(PYTHON) -m venv $(PEERS)
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(PEERS)/bin/python -m pip install --quiet -r bench/peers.txt
	@touch $@

clean:
	rm -rf $(VENV) $(PEERS) $(REPORTS) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .passmuster

# Two stamps for one environment: the demo needs the runtime dependencies only, the tests also the development ones.
$(VENV)/.runtime: $(VENV)/.made $(INPUTS)
	@echo 'Installing passmuster in $(VENV) ...'
	@$(PIP) --editable .
	@$(BIN)/python -m compileall -q src/passmuster
	@touch $@

$(VENV)/.dev: $(VENV)/.made $(INPUTS)
	@echo 'Installing passmuster and its development tools in $(VENV) ...'
	@$(PIP) --editable '.[dev]'
	@touch $(VENV)/.runtime $@

# Debian ships `ensurepip` separately from Python (package python3-venv). Without it, virtualenv or pip is used.
$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
		echo "make: there is no $(PYTHON) here; install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3" >&2; \
		exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "make: passmuster needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) -V 2>&1);" >&2; \
		echo "      name a newer one: make PYTHON=python3.11" >&2; \
		exit 1; }
	@rm -rf $(VENV)
	@if $(PYTHON) -c 'import ensurepip, venv; ensurepip.version()' 2>/dev/null; then \
		$(PYTHON) -m venv $(VENV); \
	elif $(PYTHON) -c 'import virtualenv' 2>/dev/null; then \
		$(PYTHON) -m virtualenv --quiet $(VENV); \
	elif $(PYTHON) -c 'import pip, venv' 2>/dev/null; then \
		$(PYTHON) -m venv --without-pip $(VENV) && \
		$(PYTHON) -m pip --python $(VENV)/bin/python install --quiet --constraint constraints.txt pip; \
	else \
		echo "make: $(PYTHON) cannot make virtual environments: it has no ensurepip, virtualenv or pip." >&2; \
		echo "      On Debian and Ubuntu: apt-get install python3-venv" >&2; \
		exit 1; \
	fi
	@touch $@
