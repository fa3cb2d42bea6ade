# make demo     train a small Leduc agent, measure its exploitability, say how to play against it
# make kernels  compile ahead what the commands would compile when first run, half a minute; make demo does it too
# make check    linters, types, contracts, and the tests of what changed; ROOM=searches: of one room
# make test     linters, types, contracts and every test but the slow ones
# make slow     the slow tests: faults of whole programs, kernels for other processors (tests/conftest.py names them)
# make figures  documented figures beside what their commands print today, 40 minutes; WORDS=leduc: some of them
# make docs     the documents as a site in site/, by Zensical, and one as a notebook; installs the extra docs
# make fuzz     hostile lines, damaged checkpoints, random arguments, kills; MINUTES=30 for each, default 1
# All make .venv first when it is missing or out of date. On Linux, PyPI's torch is the CUDA build (gigabytes); for
# the CPU build: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make demo

PYTHON ?= python3
DEMO := runs/demo

BIN := .venv/bin
STAMP := .venv/.installed
# One thread per process: two test workers that each use every core only slow each other down.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: help demo kernels check test slow figures docs fuzz lint clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -c constraints.txt -e '.[dev]'
	touch $@

kernels: $(STAMP)
	$(BIN)/sog compile

# A second run takes up the first where it stopped: if that was finished, only the measurement is repeated.
demo: kernels
	$(BIN)/sog train leduc_poker --preset demo --out $(DEMO) $$(test ! -e $(DEMO) || echo --resume)
	$(BIN)/sog exploit $(DEMO) --simulations 100 --per-update 0.1 --seeds 3
	@echo
	@echo "Play against it:    $(BIN)/sog play $(DEMO)"
	@echo "Train from scratch: rm -r $(DEMO) && make demo"

PYTEST := $(ONE_THREAD) $(BIN)/pytest -n 2 --dist worksteal

check: lint
	rooms=$$($(BIN)/python -m tests.rooms $(ROOM)) && $(PYTEST) -m "not slow" $$rooms

test: lint
	$(PYTEST) -m "not slow"

slow: $(STAMP)
	$(PYTEST) -m slow

figures: $(STAMP)
	$(ONE_THREAD) $(BIN)/python -m soglab.checks.figures $(WORDS)

docs: $(STAMP)
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[docs]'
	$(BIN)/zensical build --strict --clean
	$(BIN)/jupytext --quiet --to ipynb --output site/python.ipynb docs/python.md

# One machine after the other, each MINUTES long; what one finds does not keep the next from running.
MINUTES ?= 1
MACHINES := $(basename $(notdir $(filter-out %/__init__.py %/frame.py, $(wildcard tests/fuzz/[a-z]*.py))))

fuzz: $(STAMP)
	@failed=0; for m in $(MACHINES); do \
	    $(ONE_THREAD) $(BIN)/python -m tests.fuzz.$$m --minutes $(MINUTES) || failed=1; done; exit $$failed

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/mypy --strict sog soglab
	$(BIN)/lint-imports

# Leaves .venv and runs/ alone.
clean:
	rm -rf build dist site .cache *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find sog soglab tests -name __pycache__ -type d -prune -exec rm -rf {} +
