# Every target prepares what it needs: a fresh clone, Python 3.11 or newer and a package index are enough.
PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= 2
RUN     := $(VENV)/bin

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo reproduce test test-slow lint bench docs clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(VENV)/.stamp-app ## run the main job on bundled real data: a table, a plot and an HTML page
	$(RUN)/fairkernel demo

reproduce: $(VENV)/.stamp-app ## run the paper's experiment: Table I, both figures (resumable; about a quarter of an hour)
	$(RUN)/fairkernel reproduce

# One thread per worker: the workers are the parallelism, and a fixed thread count makes results repeat to the bit.
test test-slow: export OMP_NUM_THREADS = 1
test test-slow: export OPENBLAS_NUM_THREADS = 1

test: $(VENV)/.stamp-test ## run the tests and the examples in the docstrings
	$(RUN)/python -m pytest -n $(WORKERS) --dist worksteal

test-slow: $(VENV)/.stamp-test ## run the tests that take long
	$(RUN)/python -m pytest -n $(WORKERS) --dist worksteal -m slow

lint: $(VENV)/.stamp-lint ## check style and types
	$(RUN)/ruff check .
	$(RUN)/mypy

bench: $(VENV)/.stamp-bench ## measure time and memory, as ratios within one run
	$(RUN)/python benchmarks/run.py

docs: $(VENV)/.stamp-docs ## write the API reference to docs/_build
	$(RUN)/pdoc --docformat numpy --output-directory docs/_build fairkernel

clean: ## remove everything these targets have made
	rm -rf $(VENV) build dist docs/_build fairkernel-demo fairkernel-reproduction .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per extra: installed again only when pyproject.toml is newer.
$(VENV)/.stamp-%: pyproject.toml | $(RUN)/python
	@echo "installing fairkernel[$*] into $(VENV) (a minute or two the first time)"
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

$(RUN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fairkernel needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv --clear $(VENV)
