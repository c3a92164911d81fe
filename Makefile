# Every target sets up what it needs; a second run finds it in place.
SHELL := /bin/bash
PY := .venv/bin/python
.DEFAULT_GOAL := help

.PHONY: help setup demo test check fix serve bench lock clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

setup: ## virtual environment in .venv, locked dependencies, what the system must give
	@scripts/setup run

demo: ## the whole loop on this machine, without any account
	@scripts/setup run
	@$(PY) -m bot demo $(ARGS)

test: ## every test
	@scripts/setup test
	@scripts/test $(ARGS)

check: ## lint, types and tests: what CI runs
	@scripts/setup test
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	@scripts/test $(ARGS)

fix: ## mend what can be mended
	@scripts/setup run
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

serve: ## the bot against GitHub; settings in bot.toml or BOT_ variables
	@scripts/setup run
	@$(PY) -m bot serve $(ARGS)

bench: ## tables of what things cost, beside what one would do instead
	@scripts/setup test
	@for b in bench/*.py; do echo "== $$b"; $(PY) $$b || exit 1; done

lock: ## renew requirements.lock from pyproject.toml
	@scripts/setup run
	.venv/bin/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --extra bot --extra dev pyproject.toml -o requirements.lock

clean: ## remove what the other targets made
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info data
