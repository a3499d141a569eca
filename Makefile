# Everything that the project asks of a machine is Python 3.11 and make.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=

.PHONY: run test check fix snaps screenshots bench slow docs clean

run: $(READY)  ## set up, then open the explorer (ARGS="xai-colossus-100k" opens a preset)
	$(BIN)/clusterscope $(ARGS)

test: check  ## set up, then all checks
	env -u NO_COLOR -u TEXTUAL_THEME TEXTUAL_ANIMATIONS=none CLUSTERSCOPE_CHECK=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

snaps: $(READY)  ## accept new pictures; look at each before you commit it
	env -u NO_COLOR -u TEXTUAL_THEME TEXTUAL_ANIMATIONS=none $(BIN)/python -m pytest tests/tui --snapshot-update

screenshots: $(READY)  ## pictures of the real presets, for the README
	env -u NO_COLOR -u TEXTUAL_THEME TEXTUAL_ANIMATIONS=none $(BIN)/python -m tests.screenshots

bench: $(READY)  ## measured figures, printed
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python -m tests.bench

slow: $(READY)  ## long studies
	env -u NO_COLOR -u TEXTUAL_THEME TEXTUAL_ANIMATIONS=none CLUSTERSCOPE_CHECK=1 $(BIN)/python -m pytest -m slow

docs: $(READY)  ## pages that are made from the code
	$(BIN)/python -m tests.data_model

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
