# `make` alone lists the commands.
.DEFAULT_GOAL := help
SHELL := /bin/sh
PY := .venv/bin/python
INSTALL := @sh launch/install.sh

.PHONY: help run install test browser chaos security monkey scale check format bench pollock api worker ui migrate integrity repair

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' Makefile

run: ## install, start everything and print the URL; Ctrl-C stops it
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch run

install: ## only install into .venv
	$(INSTALL) requirements.txt

# Files run in the order of tests/conftest.py: the slow ones first, and the many short ones of
# tests/unit last. Bytecode is written, or each process would compile all tests again.
test: ## test every promise, and a journey on each page (installs what it needs, a browser too)
	$(INSTALL) requirements-dev.txt
	@$(PY) -m launch.browser
	@PYTHONDONTWRITEBYTECODE= exec $(PY) -m pytest -n 3 --dist loadfile --no-loadscope-reorder

browser: ## run the longer browser tests: races, slow lines, looks, all states of pages
	$(INSTALL) requirements-dev.txt
	@$(PY) -m launch.browser
	@PYTHONDONTWRITEBYTECODE= exec $(PY) -m pytest -n 3 --dist loadfile tests/e2e -m browser

chaos: ## run the long tests of faults and of large amounts; writes docs/chaos-record.md
	$(INSTALL) requirements-dev.txt
	@CHAOS_RECORD=docs/chaos-record.md exec $(PY) -m pytest tests -m chaos

security: ## run the long attack tests
	$(INSTALL) requirements-dev.txt
	@$(PY) -m launch.browser
	@exec $(PY) -m pytest tests -m security

scale: ## as root: three hosts, each a network namespace, on a day of faults and an upgrade
	$(INSTALL) requirements-dev.txt
	@$(PY) -m launch.browser
	@exec timeout 30m unshare --net --mount --pid --fork --kill-child --mount-proc \
		$(PY) -m pytest tests/scale -m scale -rP --show-capture=stdout

monkey: ## click and type at random on all pages: MONKEY_MINUTES=1 MONKEY_SEED=1
	$(INSTALL) requirements-dev.txt
	@$(PY) -m launch.browser
	@exec $(PY) -m pytest tests/e2e/monkey -m monkey

check: ## check formatting, lint, types, import contracts, the stored API and sizes of files
	$(INSTALL) requirements-dev.txt
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	.venv/bin/lint-imports
	$(PY) -m backend.api.document --check
	$(PY) -m pytest -q tests/unit/test_layout.py

format: ## format the code, fix what the linter can, and store the API document
	$(INSTALL) requirements-dev.txt
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .
	$(PY) -m backend.api.document

bench: ## benchmark against peers and print the table of ratios
	$(INSTALL) requirements-dev.txt
	@exec $(PY) -m benchmarks

pollock: ## read Pollock's polluted text files and say what is silently wrong: FOLDER="…/polluted_files …"
	$(INSTALL) requirements-dev.txt
	@exec $(PY) -m benchmarks.pollock $(FOLDER)

api: ## run only the API
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch api

worker: ## run only one worker
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch worker

ui: ## run only the web pages
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch ui

integrity: ## check stored conversations, plans, artifacts and files; changes nothing
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch integrity

repair: ## run the same check and repair what can be repaired
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch repair

migrate: ## migrate the database to the newest schema
	$(INSTALL) requirements.txt
	@exec $(PY) -m launch migrate
