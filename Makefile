# make run     solve the main game, configs/cfr.yaml, into results/cfr
# make test    lint, types, import contract, tests
# make fuzz    random games against the twin, GAMES=5000 of them
# make bench   benchmarks, in one table and build/bench/bench.json
# make docs    the documentation site, into build/site
# make fmt     format, and mend what the linter can
# make clean   remove everything that was made, results and champions aside

.DELETE_ON_ERROR:
.PHONY: run test fuzz bench docs fmt clean

PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
BIN := .venv/bin
CODE := $(wildcard hogeq tests benchmarks experiments examples)

run: .venv/.stamp
	$(BIN)/python -m hogeq.run configs/cfr.yaml --overwrite

test: .venv/.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 --benchmark-disable

# Game n is always the same one: more games look further.
fuzz: export HOGEQ_FUZZ_GAMES = $(or $(GAMES),5000)
fuzz: .venv/.stamp
	$(BIN)/python -m pytest -n 2 --benchmark-disable tests/evaluation/test_random_games.py

# One thread means one, in linear algebra too.
bench: export OPENBLAS_NUM_THREADS = 1
bench: .venv/.stamp
	$(BIN)/python benchmarks

docs: .venv/.stamp
	$(BIN)/python docs/draw_architecture.py
	$(BIN)/python -m sphinx -q -d build/doctrees docs build/site
	@echo 'open build/site/index.html'

fmt: .venv/.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.venv/.stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]' --constraint constraints.txt
	touch $@

clean:
	rm -rf .venv .hypothesis .benchmarks .mypy_cache .pytest_cache .ruff_cache \
		.import_linter_cache build dist docs/api hogeq.egg-info
	find $(CODE) -type d -name __pycache__ -prune -exec rm -rf {} +
