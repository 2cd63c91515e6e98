# Everything a person types. `.ci/run` says what CI runs of it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# -p no:randomly and friends are not needed: nothing but the lock file is installed here.
PYTEST := $(BIN)/python -m pytest
# A file is the unit, so a worker starts a stack of its own once and no two tests share one; the long files come first.
# Three workers for two cores: a third of the time a test waits, for a part that was killed or for a schedule.
WORKERS ?= $(shell echo $$(( ($$(nproc) * 3 + 1) / 2 )))
PARALLEL := -n $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: help run test test-pythons test-hosts test-openclaw test-browser test-monitoring check format chaos api-fuzz fuzz sbom licences audit mutants lock clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | while IFS="$$(printf '\t')" read -r name words; do \
		printf '%-16s %s\n' "$$name" "$$words"; done

# The environment is made once, and again when a lock file or the project file changes: first what Longtail needs to run
# (requirements-run.lock), then, for tests and checks, what requirements.lock adds to it.
# An environment without pip is what Debian's Python leaves behind where python3-venv is missing: it is made again.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Longtail needs Python 3.11 or newer; set PYTHON=python3.x")'
	@$(PYTHON) -c 'from ensurepip import version' 2>/dev/null || { exec >&2; \
		echo "$(PYTHON) cannot make a virtual environment: its module ensurepip is missing."; \
		echo "On Debian and Ubuntu: sudo apt install python3-venv, then the same command again."; exit 1; }
	$(PYTHON) -m venv $(VENV)

INSTALL = $(BIN)/python -m pip install --disable-pip-version-check
$(VENV)/.runs: requirements-run.lock pyproject.toml | $(BIN)/pip
	@echo "installing what requirements-run.lock names into $(VENV); once, a minute or two"
	$(INSTALL) --progress-bar on --require-hashes -r requirements-run.lock
	$(INSTALL) --quiet --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.installed: $(VENV)/.runs requirements.lock
	@echo "installing what tests and checks need besides; once, a minute or two"
	$(INSTALL) --progress-bar on --require-hashes -r requirements.lock
	touch $@

run: $(VENV)/.runs  ## start everything, play the sample, show the prompt
	$(BIN)/longtail demo --start

test: $(VENV)/.installed  ## every test, against real services started for them
	$(PYTEST) -q $(PARALLEL)

test-pythons: $(VENV)/.installed  ## the unit tests on every Python from 3.11 to 3.14 that is here, Debian's own among them
	$(BIN)/python tests/pythons.py $(ONLY)

# Half an hour on an idle machine; FAULTS=30 for a short one. SEED=… repeats a run; LONGTAIL_CHAOS_KILLS=500 kills a compaction more often than 50 times.
chaos: $(VENV)/.installed  ## the fault tests, then 200 faults at random moments, and the table of docs/reliability.md
	$(PYTEST) -q tests/chaos
	$(BIN)/python -m bench.chaos.run --faults $(or $(FAULTS),200) --seed $(or $(SEED),1) --page docs/reliability.md

# Installs the host (npm) and its Node (PyPI) into .openclaw the first time, about 800 MB.
test-openclaw: $(VENV)/.installed  ## the OpenClaw plugin in the real host, against a stub model
	$(BIN)/python tests/hosts/openclaw/installation.py
	$(PYTEST) -q -o pythonpath=tests/hosts/openclaw -o timeout=1800 tests/hosts/openclaw

test-monitoring: $(VENV)/.installed  ## dashboard and alert rules in a real Prometheus; as root on Debian, a missing one is fetched
	sh tests/monitoring/install_prometheus.sh $(VENV)/prometheus
	PATH="$$PATH:$(CURDIR)/$(VENV)/prometheus/usr/bin" $(PYTEST) -q tests/monitoring

# Twenty minutes on two cores; REQUESTS=2000 for a short one. A failure names its seed: SEED=… repeats it.
api-fuzz: $(VENV)/.installed  ## the API against its own OpenAPI document, every check, 20,000 requests
	$(BIN)/python -m bench.fuzz --requests $(or $(REQUESTS),20000) $(if $(SEED),--seed $(SEED))

# INPUTS=5000 for a short one; SEED=… repeats a run.
fuzz: $(VENV)/.installed  ## every parser that reads text from outside, 100,000 inputs
	$(BIN)/python -m bench.parsers --inputs $(or $(INPUTS),100000) $(if $(SEED),--seed $(SEED))

mutants: $(VENV)/.installed  ## change the modules named in pyproject.toml a little, and see whether a test notices
	$(BIN)/mutmut run
	$(BIN)/mutmut results

# Agent frameworks in an environment of their own, Hermes in another: it pins the versions of what the others share.
HOSTS ?= .venv-hosts
PIP := python -m pip install --quiet --disable-pip-version-check
$(HOSTS)/.installed: requirements.lock tests/hosts/requirements.txt pyproject.toml clients/python/pyproject.toml
	test -x $(HOSTS)/bin/python || $(PYTHON) -m venv $(HOSTS)
	$(HOSTS)/bin/$(PIP) --require-hashes -r requirements.lock -r tests/hosts/requirements.txt
	$(HOSTS)/bin/$(PIP) --no-deps --no-build-isolation -e . -e clients/python
	touch $@

$(HOSTS)/hermes/.installed: $(HOSTS)/.installed tests/hosts/hermes.txt $(wildcard clients/python/longtail_client/*.py)
	test -x $(HOSTS)/hermes/bin/python || $(PYTHON) -m venv $(HOSTS)/hermes
	$(HOSTS)/hermes/bin/$(PIP) --require-hashes -r tests/hosts/hermes.txt
	rm -rf $(HOSTS)/wheels
	$(HOSTS)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w $(HOSTS)/wheels clients/python
	$(HOSTS)/hermes/bin/$(PIP) --no-deps --force-reinstall $(HOSTS)/wheels/longtail_client-*.whl
	touch $@

test-hosts: $(HOSTS)/.installed $(HOSTS)/hermes/.installed  ## agents and frameworks from their own packages, against a real stack
	LONGTAIL_TEST_HERMES=$(HOSTS)/hermes/bin/hermes $(HOSTS)/bin/python -m pytest -q tests/hosts --ignore tests/hosts/openclaw

# Playwright drives the Chromium that is here; it downloads none. As root on Debian, a missing one is installed by apt.
$(VENV)/.browses: $(VENV)/.installed tests/browser/requirements.txt
	$(INSTALL) --quiet --require-hashes -r tests/browser/requirements.txt
	touch $@

test-browser: $(VENV)/.browses  ## the Inspector in a real Chromium; SCREENSHOTS=docs renews the pictures of docs/inspector
	sh tests/browser/install_chromium.sh
	LONGTAIL_TEST_SCREENSHOTS=$(or $(SCREENSHOTS),build/screenshots) $(PYTEST) -q -o pythonpath=tests/browser tests/browser

check: $(VENV)/.installed  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

sbom: $(VENV)/.installed  ## a CycloneDX bill of materials from the lock file, as sbom.json
	$(BIN)/python -m bench.supply sbom > sbom.json

licences: $(VENV)/.installed  ## every package of the lock file and its licence
	$(BIN)/python -m bench.supply licences

# Asks the advisory database of the package index: it needs a network, and pip-audit outside of the project's environment.
audit:  ## known vulnerabilities of what the lock file names (needs pip-audit)
	pip-audit --strict --requirement requirements.lock --require-hashes --disable-pip

lock:  ## renew requirements.lock from pyproject.toml (needs uv)
	uv pip compile --universal --generate-hashes --all-extras --no-header --no-annotate --no-emit-index-url \
		--quiet pyproject.toml -o requirements.lock
	uv pip compile --universal --generate-hashes --extra flower --extra traces --extra build --no-header --no-annotate --no-emit-index-url \
		--quiet pyproject.toml -c requirements.lock -o requirements-run.lock
	uv pip compile --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --python-version 3.11 \
		--quiet tests/hosts/requirements.in -c requirements.lock -o tests/hosts/requirements.txt
	uv pip compile --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --python-version 3.11 \
		--quiet tests/hosts/hermes.in -o tests/hosts/hermes.txt
	uv pip compile --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --python-version 3.11 \
		--quiet tests/browser/requirements.in -c requirements.lock -o tests/browser/requirements.txt

clean:
	rm -rf $(VENV) $(HOSTS) .venvs .openclaw .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache mutants
