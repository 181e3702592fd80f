# make run     solve the main game, configs/cfr.yaml, into results/cfr
# make test    lint, types, import contracts and all fast tests: some five minutes on two cores, with the ten slowest
# make test-all   all of that, then the slow tests: clusters, wheel, browser, experiments, champions
# make test-lowest   install the lowest versions that pyproject.toml names, and compute with them
# make fuzz    random games against the twin, GAMES=5000 of them; files made to break every reader,
#              SECONDS=60 of each kind
# make mutants change the code in hundreds of ways, one at a time, and see whether the tests notice;
#              an hour or two
# make gambit  compile Gambit, and test exported game trees with it; minutes
# make bench   benchmarks, in one table and build/bench/bench.json
# make docs    the documentation site, into build/site
# make fmt     format, and mend what the linter can
# make clean   remove everything that was made, results and champions aside

.DELETE_ON_ERROR:
.PHONY: run lint test test-slow test-lowest test-all fuzz mutants gambit bench docs fmt clean

PYTHON ?= $(or $(shell for one in python3.11 python3.12 python3.13; do \
	$$one -c '' 2>/dev/null && echo $$one && break; done),python3)
BIN := .venv/bin
# Python compiles what it imports; to compile all that is installed takes as long as installing it.
# By its path, hogeq is found before a folder hogeq/ where Python is started.
PIP := $(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt \
	--config-settings editable_mode=compat
PYTEST := $(BIN)/python -m pytest -n 2 --benchmark-disable
CODE := $(wildcard hogeq tests benchmarks experiments examples)

run: .venv/.run
	$(BIN)/python -m hogeq.run configs/cfr.yaml --overwrite

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports
	$(BIN)/zizmor --offline --quiet .github/workflows

# Compiled once, by both cores, before workers would each compile the same.
test: lint
	$(BIN)/python -m hogeq warmup
	$(PYTEST) -m 'not slow' --durations 10

test-slow: .venv/.test
	$(PYTEST) -m slow --durations 10

# The lowest versions that are named install, and compute the same.
test-lowest: .venv/.test
	$(PYTHON) -m venv --clear build/lowest
	build/lowest/bin/python -m pip install --quiet --only-binary :all: $$($(BIN)/python tests/lowest.py)
	build/lowest/bin/python -m hogeq tablebase --rules fa22
	build/lowest/bin/python -m hogeq show always_roll:4 --rules fa22 --out build/lowest/four.png
	build/lowest/bin/python -m hogeq attack always_roll:4 --rules su20 --starts 1 --kicks 0

test-all: test test-slow test-lowest

# Game n is always the same one: more games look further. No file is given twice.
fuzz: export HOGEQ_FUZZ_GAMES = $(or $(GAMES),5000)
fuzz: export HOGEQ_FUZZ_SECONDS = $(or $(SECONDS),60)
fuzz: .venv/.test
	$(PYTEST) tests/evaluation/test_random_games.py tests/fuzz

mutants: .venv/.test
	$(PIP) --editable '.[mutants]'
	$(BIN)/python tests/mutants.py

gambit: .venv/.test
	$(PIP) --editable '.[gambit]'
	$(BIN)/python -m pytest tests/trees/test_gambit.py

# One thread means one, in linear algebra too.
bench: export OPENBLAS_NUM_THREADS = 1
bench: .venv/.test
	$(PIP) --only-binary :all: --editable '.[bench]'
	$(BIN)/python benchmarks

docs: .venv/.test
	$(BIN)/python docs/draw_architecture.py
	$(BIN)/python -m sphinx -q -d build/doctrees docs build/site
	@echo 'open build/site/index.html'

fmt: .venv/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# What is needed to run, then what developers need on top of it. Nothing is compiled: wheels only.
# What an installation left unfinished, or of another Python, is cleared.
.venv/.run: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("hogeq needs Python 3.11 or \
	newer; $(PYTHON) is %d.%d.%d; allowed: make run PYTHON=python3.12" % sys.version_info[:3])'
	@echo installing hogeq and its libraries into .venv, which takes some minutes
	test -e $@ || $(PYTHON) -m venv --clear .venv
	$(PIP) --only-binary :all: --editable '.[report]'
	touch $@

.venv/.test: .venv/.run
	$(PIP) --only-binary :all: --editable '.[report,cluster,docs,dev]'
	touch $@

clean:
	rm -rf .venv .hypothesis .benchmarks .mypy_cache .pytest_cache .ruff_cache \
		.import_linter_cache build dist docs/api hogeq.egg-info
	find $(CODE) -type d -name __pycache__ -prune -exec rm -rf {} +
