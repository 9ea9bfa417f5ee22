# make demo: the main job on shipped data.  make test: all tests.  make check: lint, types, layers, docs.
# make fuzz FUZZ=100000 SEED=17: spoilt inputs by the thousand, and the property tests on random examples.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DATA := models/data/network_sensitivity

.PHONY: demo test check lint types layers docs benchmark clean help
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# //p' Makefile

$(READY): setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

demo: $(READY)
	mkdir -p demo
	$(BIN)/headway compare nfs-server --preset scsi --data $(DATA)/table_a_1_scsi_performance.csv \
	    --from 190 --to 1060 --plot demo/scsi.svg
	$(BIN)/headway compare nfs-server --preset raid --data $(DATA)/table_a_5_raid_performance.csv \
	    --from 490 --to 1410 --plot demo/raid.svg
	$(BIN)/headway report nfs-server --preset raid --data $(DATA)/table_a_5_raid_performance.csv \
	    --out demo/raid.html

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal

# Spoilt inputs, then the property tests on random examples; both say again how to repeat them.
SEED := $(or $(SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))
FUZZ ?= 100000
MODELS ?= 2000
.PHONY: fuzz fuzz-inputs fuzz-models fuzz-properties
fuzz: fuzz-inputs fuzz-models fuzz-properties

fuzz-inputs: $(READY)
	$(BIN)/python -m tests.fuzz --count $(FUZZ) --seed $(SEED) $(if $(ONLY),--only $(ONLY)) \
	    $(if $(FUZZ_SECONDS),--seconds $(FUZZ_SECONDS))

# Random small models: MODELS of them from the seed on.
fuzz-models: $(READY)
	HEADWAY_MODELS=$(SEED):$(MODELS) $(BIN)/python -m pytest -q -n auto --dist worksteal \
	    tests/test_random_models.py

fuzz-properties: $(READY)
	HEADWAY_FUZZ=$(SEED) $(BIN)/python -m pytest -n auto --dist worksteal

check: lint types layers docs

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) build/typing
	$(BIN)/mypy

layers: $(READY) build/typing
	PYTHONPATH=build/typing $(BIN)/lint-imports

# mypy and import-linter cannot follow an editable install's import hook: give them a tree of links.
.PHONY: build/typing
build/typing:
	mkdir -p $@/headway
	for f in src/headway/*.py src/headway/py.typed; do ln -sf ../../../$$f $@/headway/; done
	for p in loggp queueing models cli; do ln -sfn ../../../$$p $@/headway/$$p; done

docs: $(READY)
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs

benchmark: $(READY)
	$(BIN)/python -m pytest benchmarks -q --benchmark-disable-gc

clean:
	rm -rf $(VENV) build demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
