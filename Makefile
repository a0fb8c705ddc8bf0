# `make` alone lists what there is.
.DEFAULT_GOAL := help
SHELL := /bin/sh
PY := .venv/bin/python
INSTALL := @sh launch/install.sh

.PHONY: help run install test chaos security monkey check format bench api worker ui migrate integrity repair

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' Makefile

run: ## install what is missing, start everything, print the URL; Ctrl-C stops it
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch run

install: ## install into .venv, nothing else
	$(INSTALL) requirements.txt

# The files that take longest come first by their names, and the many short ones of tests/unit last.
# Compiled tests are kept: each of the processes would otherwise compile all of them.
test: ## run every test (installs what is missing, a browser too)
	$(INSTALL) requirements-dev.txt
	@$(PY) -m launch.browser
	@PYTHONDONTWRITEBYTECODE= exec $(PY) -m pytest -n 3 --dist loadfile --no-loadscope-reorder

chaos: ## the long form of the tests under faults; writes docs/chaos-record.md
	$(INSTALL) requirements-dev.txt
	@CHAOS_RECORD=docs/chaos-record.md exec $(PY) -m pytest tests/chaos tests/replay -m "chaos or not chaos"

security: ## the long form of the tests under attack
	$(INSTALL) requirements-dev.txt
	@$(PY) -m launch.browser
	@exec $(PY) -m pytest tests -m security

monkey: ## click and type at random over all pages: MONKEY_MINUTES=1 MONKEY_SEED=1
	$(INSTALL) requirements-dev.txt
	@$(PY) -m launch.browser
	@exec $(PY) -m pytest tests/e2e/monkey -m monkey

check: ## format, lint, types, import contracts
	$(INSTALL) requirements-dev.txt
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	.venv/bin/lint-imports

format: ## mend what can be mended
	$(INSTALL) requirements-dev.txt
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

bench: ## measure against the peers and print the table of ratios
	$(INSTALL) requirements-bench.txt
	@exec $(PY) -m benchmarks

api: ## the API alone
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch api

worker: ## one worker alone
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch worker

ui: ## the pages alone
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch ui

integrity: ## check conversations, plans, artifacts and files; changes nothing
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch integrity

repair: ## the same check; what can be mended is mended
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch repair

migrate: ## bring the database to the newest schema
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch migrate
