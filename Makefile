# Everything sets itself up in .venv on a machine with Python 3.11 or later, and reuses it the next time.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-lowest fuzz audit mutants lint docs linkcheck bench dist clean

demo: .venv/demo.stamp  ## simulate, fit, and write two reports to bayesing-demo/
	$(BIN)/bayesing demo --force

test: lint  ## lint, types and tests, on all cores
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto

# Pages and the README print digits that depend on the versions in constraints.txt, and are left out.
test-lowest: export OPENBLAS_NUM_THREADS = 1
test-lowest:  ## tests with the declared minimum of every dependency, in .venv-lowest
	$(PYTHON) -m venv --clear .venv-lowest
	$(PYTHON) tests/lowest.py > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --requirement .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	.venv-lowest/bin/python -m pytest --numprocesses auto tests src

FUZZ_SECONDS ?= 3600
FUZZ_EXAMPLES ?= 5000

fuzz: export OPENBLAS_NUM_THREADS = 1
fuzz: .venv/fuzz.stamp  ## attack the readers and the methods for an hour; what fails is kept in results/fuzz
	mkdir -p results/fuzz/corpus
	BAYESING_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python -m pytest tests/test_fuzz.py tests/test_state_machine.py
	cd results/fuzz && ../../$(BIN)/python ../../tests/fuzz_readers.py corpus -max_total_time=$(FUZZ_SECONDS) \
		-rss_limit_mb=3000 -timeout=30 -max_len=65536 -print_final_stats=1

MUTANTS ?= 40

mutants: .venv/mutants.stamp  ## change the mathematics in random places: do tests notice? verdicts in results/mutants
	$(BIN)/python -m pytest tests/test_mutants.py
	$(BIN)/python tests/mutants.py --sample $(MUTANTS) --jobs $(shell nproc 2>/dev/null || echo 1)

audit: .venv/audit.stamp  ## known vulnerabilities of the versions in constraints.txt, which needs a network
	$(BIN)/pip-audit --strict --requirement constraints.txt --no-deps --disable-pip

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Small matrices: threads of BLAS would only wait for each other where cores are busy.
docs: export OPENBLAS_NUM_THREADS ?= 1
docs: .venv/docs.stamp  ## the documentation site, in docs/_build/html
	$(BIN)/python -m pytest docs/*.md tests/test_documentation.py -k "not examples"
	$(BIN)/sphinx-build -W -n -E --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/links.py docs/_build/html README.md CONTRIBUTING.md
	@echo "open docs/_build/html/index.html"

linkcheck: .venv/docs.stamp  ## follow the links to other sites, which needs a network
	$(BIN)/sphinx-build -q -b linkcheck -D plot_gallery=0 docs docs/_build/linkcheck

bench: .venv/bench.stamp  ## speed, as ratios within one run
	$(BIN)/python benchmarks/fit.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/sampling.py
	$(BIN)/python benchmarks/couplings.py results/couplings logistic large
	$(BIN)/python benchmarks/likelihood.py results/likelihood exact cost
	$(BIN)/python benchmarks/edges.py results/edges cost
	$(BIN)/python benchmarks/series.py results/series cost
	$(BIN)/python benchmarks/scale.py results/scale
	@echo "all that docs/accuracy.md says, in hours: $(BIN)/python benchmarks/accuracy.py results/accuracy --jobs -1"
	@echo "  and benchmarks/robustness.py and calibration.py, each with a folder of its own"
	@echo "all that docs/couplings.md says, in an hour: $(BIN)/python benchmarks/couplings.py results/couplings"
	@echo "all that docs/likelihood.md says, in an hour: $(BIN)/python benchmarks/likelihood.py results/likelihood"
	@echo "all that docs/edges.md says, in half an hour: $(BIN)/python benchmarks/edges.py results/edges --jobs -1"
	@echo "all that docs/series.md says, in half an hour: $(BIN)/python benchmarks/series.py results/series"
	@echo "with --quick the same in small; a run that was interrupted goes on in its folder"

dist: .venv/release.stamp  ## sdist and wheel, in dist/
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	@test -z "$$(find dist -name '*.whl' -size +1000000c)" || { echo "the wheel has more than 1 MB"; exit 1; }

clean:
	rm -rf .venv .venv-lowest dist docs/_build docs/gallery

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable .
	@touch $@

.venv/dev.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable ".[dev]"
	@touch $@ .venv/demo.stamp

.venv/fuzz.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable ".[fuzz]"
	@touch $@ .venv/demo.stamp .venv/dev.stamp

.venv/mutants.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable ".[mutants]"
	@touch $@ .venv/demo.stamp .venv/dev.stamp

.venv/bench.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable ".[bench]"
	@touch $@ .venv/demo.stamp

.venv/docs.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable ".[docs]"
	@touch $@ .venv/demo.stamp

.venv/audit.stamp: | .venv/bin/python
	$(PIP) pip-audit
	@touch $@

.venv/release.stamp: constraints.txt | .venv/bin/python
	$(PIP) build twine
	@touch $@
