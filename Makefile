# Everything a person types. `make check`, `make test` and `make test-pythons` are exactly what CI runs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# -p no:randomly and friends are not needed: nothing but the lock file is installed here.
PYTEST := $(BIN)/python -m pytest
# A file is the unit, so a worker starts a stack of its own once and no two tests share one; the long files come first.
PARALLEL := -n $(or $(WORKERS),auto) --dist loadfile --no-loadscope-reorder

.PHONY: run test test-pythons test-hosts test-openclaw check format chaos api-fuzz mutants lock clean

# The environment is made once, and again when the lock file or the project file changes.
$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Longtail needs Python 3.11 or newer; set PYTHON=python3.x")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

run: $(VENV)/.installed  ## start everything, play the sample, show the prompt
	$(BIN)/longtail demo --start

test: $(VENV)/.installed  ## every test, against real services started for them
	$(PYTEST) -q $(PARALLEL)

test-pythons: $(VENV)/.installed  ## the unit tests on every Python from 3.11 to 3.14 that is here, Debian's own among them
	$(BIN)/python tests/pythons.py

chaos: $(VENV)/.installed  ## the fault tests alone; LONGTAIL_CHAOS_KILLS=500 kills a compaction more often than the usual 50 times
	$(PYTEST) -q tests/chaos

# Installs the host and its Node into .openclaw the first time (npm, about 800 MB).
test-openclaw: $(VENV)/.installed  ## the OpenClaw plugin in the real host, against a stub model
	$(BIN)/python tests/hosts/openclaw/installation.py
	$(PYTEST) -q -o pythonpath=tests/hosts/openclaw -o timeout=900 tests/hosts/openclaw

# Twenty minutes on two cores; REQUESTS=2000 for a short one. A failure names its seed: SEED=… repeats it.
api-fuzz: $(VENV)/.installed  ## the API against its own OpenAPI document, every check, 20,000 requests
	$(BIN)/python -m bench.fuzz --requests $(or $(REQUESTS),20000) $(if $(SEED),--seed $(SEED))

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

check: $(VENV)/.installed  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock:  ## renew requirements.lock from pyproject.toml (needs uv)
	uv pip compile --universal --generate-hashes --all-extras --no-header --no-annotate --no-emit-index-url \
		--quiet pyproject.toml -o requirements.lock
	uv pip compile --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --python-version 3.11 \
		--quiet tests/hosts/requirements.in -c requirements.lock -o tests/hosts/requirements.txt
	uv pip compile --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --python-version 3.11 \
		--quiet tests/hosts/hermes.in -o tests/hosts/hermes.txt

clean:
	rm -rf $(VENV) $(HOSTS) .venvs .openclaw .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache mutants
