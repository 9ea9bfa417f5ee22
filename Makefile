# make demo: fit a model to shipped data, and name the page to open.  make test: all tests but the slow ones.  make check: lint, types, layers, docs.
# make test-slow: the tests that simulate, fit or spoil by the hundred
# make sanitize: the kernels in C stop at wrong addresses and undefined arithmetic (gcc or clang)
# make test-oldest PYTHON=python3.11: some tests with the oldest versions that setup.cfg allows (Python 3.11 or 3.12)
# make test-processors: some tests as older processors would run them.  make pins: constraints.txt installs on every Python
# make dist: wheel and source archive, checked, installed into empty environments and run there.
# make fuzz FUZZ=100000 SEED=17: spoilt inputs by the thousand, and the property tests on random examples.
# make fuzz-inputs KIND=tool: spoilt files of tools only, each read and audited
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# What the demonstration runs on: no tools for tests, but those are no hindrance.
RUNS := $(or $(wildcard $(READY)),$(VENV)/.runs)
DATA := models/data/network_sensitivity

.PHONY: demo test check lint types layers docs benchmark accuracy clean help
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# make/make/p' Makefile

# pip's own refusal of an old Python does not name the reason.
VERSION = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo missing)
NEW = $(shell $(PYTHON) -c 'import sys; print("yes" if sys.version_info >= (3, 11) else "")' 2>/dev/null)
check_python = $(if $(NEW),,$(error needs Python 3.11 or later, and $(PYTHON) is $(VERSION): make PYTHON=python3.12 takes another))
# Python compiles what is imported, when it is: most of what is installed never is.
pip = $(BIN)/python -m pip install --quiet --no-compile --no-warn-conflicts --disable-pip-version-check
# One processor fetches what headway needs while another builds its kernels and compiles its modules.
NEEDS = import configparser; read = configparser.RawConfigParser(); read.read("setup.cfg"); \
    print(read["options"]["install_requires"], read["options.extras_require"].get("$(1)", ""))
define install
	$(check_python)$(PYTHON) -m venv $(VENV)
	$(PYTHON) -c '$(NEEDS)' > $(VENV)/needs.txt
	$(pip) --no-deps -e . && $(BIN)/python -m compileall -q src queueing loggp models cli & built=$$!; \
	    $(pip) -c constraints.txt -r $(VENV)/needs.txt && wait $$built
	touch $@
endef
unexport PYTHONDONTWRITEBYTECODE
pytest = $(BIN)/python -m pytest -n auto --dist worksteal

KERNELS := $(wildcard setup.py queueing/compiled/*.[ch])
$(READY): setup.cfg pyproject.toml constraints.txt $(KERNELS)
	$(call install,dev)

$(VENV)/.runs: setup.cfg pyproject.toml constraints.txt $(KERNELS)
	$(call install)

# A published model and its measured curve, then the same model fitted to it.
SCSI := nfs-server --preset scsi --data $(DATA)/table_a_1_scsi_performance.csv
FREE := --free delay,cpu_time,disk_time,touched_per_load
demo: $(RUNS)
	mkdir -p demo
	$(BIN)/headway report $(SCSI) $(FREE) --out demo/report.html & reported=$$!; \
	    $(BIN)/headway compare $(SCSI) --from 190 --to 1060 --plot demo/published.svg && \
	    $(BIN)/headway fit $(SCSI) $(FREE) --plot demo/fitted.svg; drawn=$$?; wait $$reported && exit $$drawn
	@echo "Open demo/report.html in a browser: it shows the fitted model beside the published one, with sliders. (file://$(CURDIR)/demo/report.html)"

test: $(READY)
	$(pytest) -m "not slow"

.PHONY: test-slow
test-slow: $(READY)
	$(pytest) -m slow

# Packages that headway calls, each with the oldest version that setup.cfg allows. Old packages use
# what newer ones deprecate: warnings are no errors here.
OLDEST := .venv-oldest
MEETING := cli/test_fit_command cli/test_sweep_command cli/test_terminal docs/test_drawn \
    models/files/test_files models/measured/test_frames models/structure/test_class_speed_models \
    models/test_cluster models/uncertain/test_uncertain_parameters
install_oldest = $(OLDEST)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check -r constraints-oldest.txt
$(OLDEST)/.packages: constraints-oldest.txt
	$(check_python)$(PYTHON) -m venv $(OLDEST)
	$(install_oldest)
	touch $@

$(OLDEST)/.ready: $(OLDEST)/.packages setup.cfg pyproject.toml $(KERNELS)
	$(install_oldest) -e .
	touch $@

.PHONY: test-oldest test-processors pins
test-oldest: $(OLDEST)/.ready
	$(OLDEST)/bin/python -m pytest -n auto --dist worksteal -m "not slow" -o filterwarnings=default --disable-warnings \
	    $(MEETING:%=tests/%.py)

test-processors: $(READY)
	$(BIN)/python -m tests.processors

pins: $(READY)
	$(BIN)/python -m tests.pins

# The kernels compiled to stop at a wrong address or undefined arithmetic, in a tree of links whose
# tests of kernels and their twins they pass. Python itself keeps memory to its end: no leaks.
CC ?= cc
SANITIZED := build/sanitized
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
.PHONY: sanitize
sanitize: $(READY)
	rm -rf $(SANITIZED) && mkdir -p $(SANITIZED)/headway/queueing/compiled
	ln -s $(CURDIR)/src/headway/* $(CURDIR)/loggp $(CURDIR)/models $(CURDIR)/cli $(SANITIZED)/headway/
	ln -s $(filter-out $(CURDIR)/queueing/compiled,$(wildcard $(CURDIR)/queueing/*)) $(SANITIZED)/headway/queueing/
	ln -s $(CURDIR)/queueing/compiled/*.py $(SANITIZED)/headway/queueing/compiled/
	$(CC) -std=c11 -O1 -g -ffp-contract=off $(SANITIZE) -Wall -Wextra -Werror -shared -fPIC \
	    -I$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("include"))') \
	    queueing/compiled/*.c -lm -o $(SANITIZED)/headway/queueing/compiled/_kernels.abi3.so
	PYTHONPATH=$(SANITIZED) ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) \
	    HEADWAY_KERNELS=$(SANITIZED) $(BIN)/python -m pytest -q -n0 -m "not slow" \
	    tests/queueing/compiled tests/models/simulating/test_playing.py \
	    tests/queueing/layers/test_playing.py

# Spoilt inputs, then the property tests on random examples; both say again how to repeat them.
SEED := $(or $(SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))
FUZZ ?= 100000
MODELS ?= 2000
.PHONY: fuzz fuzz-inputs fuzz-models fuzz-properties
fuzz: fuzz-inputs fuzz-models fuzz-properties

fuzz-inputs: $(READY)
	$(BIN)/python -m tests.fuzz --count $(FUZZ) --seed $(SEED) $(if $(ONLY),--only $(ONLY)) \
	    $(if $(KIND),--kind $(KIND)) $(if $(FUZZ_SECONDS),--seconds $(FUZZ_SECONDS))

# Random small models: MODELS of them from the seed on.
fuzz-models: $(READY)
	HEADWAY_MODELS=$(SEED):$(MODELS) $(pytest) -q tests/models/test_random_models.py

fuzz-properties: $(READY)
	HEADWAY_FUZZ=$(SEED) $(pytest)

check: lint types layers docs

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) build/typing
	$(BIN)/mypy

# Rooms by import-linter; circles over every import there is, those inside functions and as text too.
layers: $(READY) build/typing
	PYTHONPATH=build/typing $(BIN)/lint-imports
	$(BIN)/python -m tests.house

# mypy and import-linter cannot follow an editable install's import hook: give them a tree of links.
.PHONY: build/typing
build/typing:
	mkdir -p $@/headway
	for f in src/headway/*.py src/headway/*.pyi src/headway/py.typed; do ln -sf ../../../$$f $@/headway/; done
	for p in loggp queueing models cli; do ln -sfn ../../../$$p $@/headway/$$p; done

docs: $(READY)
	rm -rf build/docs
	$(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees -b html docs build/docs
	$(BIN)/python -m tests.links build/docs
	$(BIN)/python -m tests.narrow build/docs

# Wheel and source archive as PyPI takes them, each installed into an empty environment and used
# from outside the clone.
DIST := $(CURDIR)/build/dist
.PHONY: dist
dist:
	$(check_python)rm -rf dist $(DIST)
	$(PYTHON) -m venv $(DIST)/tools
	$(DIST)/tools/bin/python -m pip install --quiet --disable-pip-version-check build twine
	$(DIST)/tools/bin/python -m build --outdir dist . > $(DIST)/build.log || { cat $(DIST)/build.log; exit 1; }
	$(DIST)/tools/bin/python -m twine check --strict dist/*
	for made in dist/*; do \
	    rm -rf $(DIST)/empty && $(PYTHON) -m venv $(DIST)/empty && \
	    $(DIST)/empty/bin/python -m pip install --quiet --disable-pip-version-check $$made && \
	    (cd $(DIST) && empty/bin/headway solve nfs-server --preset raid && empty/bin/headway reproduce) || exit 1; \
	done
	@echo "dist/ holds what was checked"

benchmark: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest benchmarks -q --benchmark-disable-gc
	$(BIN)/python benchmarks/bench_loggp.py
	PYTHONPATH=. $(BIN)/python -m benchmarks.memory --most 1e7

# make benchmark-against REV=HEAD~1: the same tasks by this tree and by an earlier commit, in turns
.PHONY: benchmark-against
benchmark-against: $(READY)
	PYTHONPATH=. $(BIN)/python -m benchmarks.against $(or $(REV),HEAD~1) $(if $(ONLY),--only "$(ONLY)")

# make benchmark-table: each task beside the same loop in C, or the nearest to it, in one run
.PHONY: benchmark-table
benchmark-table: $(READY)
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python -m benchmarks.table $(if $(ONLY),--only "$(ONLY)")

# make accuracy WORKERS=2: intervals of fits that hold the truth, for docs/accuracy.md (an hour of a processor)
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN)
accuracy: $(READY)
	nice $(BIN)/python -m benchmarks.accuracy --workers $(WORKERS)
	nice $(BIN)/python -m benchmarks.accuracy --workers $(WORKERS) --shifts
	nice $(BIN)/python -m benchmarks.accuracy --workers $(WORKERS) --cell single --rounds 100 --curves 100

clean:
	rm -rf $(VENV) $(OLDEST) build demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
