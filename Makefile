# `make demo` and `make test` need Python 3.11 or newer and a package index; they make .venv themselves.

PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?=

VENV := .venv
PEERS := .venv-peers
FRAMEWORKS := .venv-frameworks
DOCS := .venv-docs
RELEASE := .venv-release
SITE := build/site
BIN := $(VENV)/bin
EXAMPLE := examples/support-agent
LIVE_EXAMPLE := examples/live-agent
REPORTS := passmuster-report

# The pins apply to the build backend too: pip builds in an isolated environment and takes constraints for it only
# from these variables (older versions of pip read the first, newer ones the second).
PIP := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
	$(BIN)/python -m pip install --quiet
INPUTS := pyproject.toml constraints.txt src/passmuster/_version.py

.PHONY: help demo demo-live test lint format bench bench-peers bench-statistics frameworks docs release-check clean
.NOTPARALLEL:

help:
	@echo 'make demo    evaluate a good and a broken version of an example agent'
	@echo 'make demo-live          run an example agent with a working and a broken model, offline'
	@echo 'make test    run the tests'
	@echo 'make lint    check style, types and imports between packages'
	@echo 'make format  format the code'
	@echo 'make bench   run the benchmarks (BENCH_ARGS=--short for a short run)'
	@echo 'make bench-peers        compare the speed with other tools'
	@echo 'make bench-statistics   simulate the coverage of the confidence intervals'
	@echo 'make docs    build the documentation as a site in $(SITE)'
	@echo 'make release-check      build wheel and sdist, and check what is released'
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
		--report sarif=$(REPORTS)/good/report.sarif \
		--report html=$(REPORTS)/good/report.html
	@echo
	@echo '── Version 2.2.0, which went wrong in several ways ──'
	@echo '$$ passmuster run $(EXAMPLE) --traces $(EXAMPLE)/traces/broken.jsonl'
	@status=0; \
	$(BIN)/passmuster run $(EXAMPLE) --traces $(EXAMPLE)/traces/broken.jsonl \
		--report json=$(REPORTS)/broken/report.json \
		--report junit=$(REPORTS)/broken/junit.xml \
		--report sarif=$(REPORTS)/broken/report.sarif \
		--report html=$(REPORTS)/broken/report.html || status=$$?; \
	if [ $$status -ne 1 ]; then \
		echo "demo: the broken agent should fail the gate with exit code 1, not $$status" >&2; exit 1; \
	fi
	@echo
	@echo '── The same verdict for machines ──'
	@for report in $(REPORTS)/broken/report.json $(REPORTS)/broken/junit.xml $(REPORTS)/broken/report.sarif; do \
		echo; echo "$$report"; head -n 8 "$$report" | cut -c 1-120 | sed 's/^/    /'; \
	done
	@echo
	@echo 'The good version passed (exit code 0), the broken one did not (exit code 1). All reports; open report.html in a browser:'
	@ls $(REPORTS)/good/* $(REPORTS)/broken/*

# Compiled first: many tests start a process, which would compile the package itself where no bytecode may be written.
# The model is a script on this machine (model_server.py): no key, no network.
demo-live: $(VENV)/.live
	@echo
	@echo '── The agent with model parcels-1: may it ship? ──'
	@echo '$$ passmuster run --live $(LIVE_EXAMPLE)'
	@$(BIN)/python $(LIVE_EXAMPLE)/model_server.py $(BIN)/passmuster run --live $(LIVE_EXAMPLE)
	@echo
	@echo '── The same agent with model parcels-2, which pays too much ──'
	@status=0; \
	PARCELS_MODEL=parcels-2 $(BIN)/python $(LIVE_EXAMPLE)/model_server.py \
		$(BIN)/passmuster run --live $(LIVE_EXAMPLE) || status=$$?; \
	if [ $$status -ne 1 ]; then \
		echo "demo-live: the broken agent should fail the gate with exit code 1, not $$status" >&2; exit 1; \
	fi
	@echo
	@echo 'With parcels-1 the agent passed (exit code 0), with parcels-2 it did not (exit code 1).'

test: $(VENV)/.dev
	$(BIN)/python -m compileall -q src/passmuster
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
	$(BIN)/python -m bench.promises $(BENCH_ARGS)
	$(BIN)/python -m bench.simulation
	$(BIN)/python -m bench.early_stop

$(PEERS)/.made: bench/peers.txt
	@rm -rf $(PEERS)
	@$(PYTHON) -m venv $(PEERS)
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(PEERS)/bin/python -m pip install --quiet -r bench/peers.txt
	@touch $@

# Frameworks that the tests of capture run, if PASSMUSTER_FRAMEWORKS names the interpreter of this environment.
frameworks: $(FRAMEWORKS)/.made

$(FRAMEWORKS)/.made: .ci/frameworks/requirements.txt
	@rm -rf $(FRAMEWORKS)
	@$(PYTHON) -m venv $(FRAMEWORKS)
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(FRAMEWORKS)/bin/python -m pip install --quiet -r .ci/frameworks/requirements.txt
	@touch $@

# A warning, such as a link that leads nowhere or a page that is in no part of the contents, fails the build.
docs: $(VENV)/.runtime $(DOCS)/.made
	@rm -rf $(SITE)
	$(DOCS)/bin/sphinx-build -q -W --keep-going -b html -c docs/site docs $(SITE)
	$(BIN)/passmuster help | $(DOCS)/bin/python docs/site/check_search.py $(SITE)
	@echo 'Open $(SITE)/README.html in a browser.'

$(DOCS)/.made: docs/site/requirements.txt
	@rm -rf $(DOCS)
	@$(PYTHON) -m venv $(DOCS)
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(DOCS)/bin/python -m pip install --quiet -r docs/site/requirements.txt
	@touch $@

release-check: $(RELEASE)/.made
	$(RELEASE)/bin/python .ci/release_check.py

$(RELEASE)/.made: constraints.txt
	@rm -rf $(RELEASE)
	@$(PYTHON) -m venv $(RELEASE)
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(RELEASE)/bin/python -m pip install --quiet --constraint constraints.txt build
	@touch $@

clean:
	rm -rf $(VENV) $(PEERS) $(FRAMEWORKS) $(DOCS) $(RELEASE) $(REPORTS) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .passmuster

# Stamps for one environment: the demo needs the runtime dependencies only, demo-live also OpenAI's SDK, the tests all.
$(VENV)/.runtime: $(VENV)/.made $(INPUTS)
	@echo 'Installing passmuster in $(VENV) ...'
	@$(PIP) --editable .
	@$(BIN)/python -m compileall -q src/passmuster
	@touch $@

$(VENV)/.live: $(VENV)/.runtime
	@$(PIP) --editable '.[openai]'
	@touch $@

$(VENV)/.dev: $(VENV)/.made $(INPUTS)
	@echo 'Installing passmuster and its development tools in $(VENV) ...'
	@$(PIP) --editable '.[dev]'
	@touch $(VENV)/.runtime $(VENV)/.live $@

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
