# Each target is one command on a fresh clone: .venv is made from requirements.lock when it is missing.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help env browser demo test test-slow check bench docs house fuzz faults audit release-check lock clean

help:           ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

env: .venv/made ## create .venv from the lock file

.venv/made: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch .venv/made

demo: env       ## learn to tell unseen classes apart, in under a minute
	$(BIN)/pairlearn demo

browser:        ## Debian's chromium, for the tests of the report page
	@if [ -z "$$PAIRLEARN_SKIP_BROWSER$$PAIRLEARN_CHROMIUM" ] && ! command -v chromium > /dev/null; then \
		{ apt-get update -qq && apt-get install -y -qq chromium > /dev/null; } || { echo "install chromium, name a \
	browser with PAIRLEARN_CHROMIUM, or set PAIRLEARN_SKIP_BROWSER=1"; exit 1; }; fi

test: env browser ## the default test suite, one worker per core
	$(BIN)/python -m pytest

test-slow: env  ## the slow checks alone
	$(BIN)/python -m pytest -m slow

check: env      ## formatting, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: env      ## every benchmark at its quick size (full size: run the script itself)
	set -e; for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script --quick; done

docs: env       ## run every example in docs and docstrings, draw its pictures, build the site in site/ and look at it
	rm -rf build/pictures
	$(BIN)/python -m pytest --doctest-modules src/pairlearn tools/pages --doctest-glob='*.md' docs README.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	$(BIN)/python -m tools.pages.browser

house: env      ## sizes of packages and functions; draws docs/images/imports.svg
	$(BIN)/python tools/house.py --draw docs/images/imports.svg
	$(BIN)/python tools/house.py

fuzz: env       ## 20,000 mutated model files and 20,000 data files, in watched processes
	$(BIN)/python -m tools.fuzz --targets models --cases 20000
	$(BIN)/python -m tools.fuzz --targets tables binary lines --cases 6700

faults: env     ## signals, kills, resumed fits, full disks, forks, busy neighbours, memory budgets: a table of what happens
	$(BIN)/python -m tools.faults

audit: env      ## known vulnerabilities of what requirements.lock names (asks the package index)
	$(PYTHON) -m venv .venv/audit
	.venv/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	.venv/audit/bin/pip-audit --strict --disable-pip --no-deps --requirement requirements.lock

release-check: env ## sdist and wheel, installed and used with the oldest and the newest of what is supported
	$(BIN)/python tools/release.py

lock: env       ## write requirements.lock anew from what is installed
	$(BIN)/python -m pip freeze --exclude-editable --disable-pip-version-check > requirements.lock

clean:          ## remove everything that make creates
	rm -rf .venv build dist site *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache
