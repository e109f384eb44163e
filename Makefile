# Two commands do all on a fresh machine: `make demo` and `make test`. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
TORCH := torch==2.13.0
CPU_WHEELS := https://download.pytorch.org/whl/cpu
PARTS := lsp workspace infill engine cli
LLAMA_CPP := build/servers/llama-cpp
LLAMA_CPP_READY := $(LLAMA_CPP)/.ready
WORKERS ?= 3
PYTEST := $(BIN)/python -m pytest -n $(WORKERS)
RELEASE := build/release
RELEASE_READY := $(RELEASE)/.ready

.PHONY: help demo test test-all test-slow test-research setup lint figures walk kernels types types-research pull \
  llama-cpp extension-check foreign-clients lock audit sbom bench eval soak clean

# Sample files are filled. Installs no more than a user does.
demo: $(INSTALLED)
	$(BIN)/intarsia demo

# Each target with the comment above it.
help:
	@awk '/^# / {said = said substr($$0, 2)} /^[a-z][a-z-]*:/ {sub(/:.*/, ""); \
	  printf "make %-16s%s\n", $$0, said} !/^#/ {said = ""}' $(MAKEFILE_LIST)

# The fast lane: all that a change commonly breaks.
test: setup pull
	$(MAKE) -j2 lint types extension-check
	$(PYTEST) -m "not slow" tests research/tests/replay

# Both lanes.
test-all: test test-slow test-research

# The slow lane: whole processes, other servers, real faults.
test-slow: setup pull llama-cpp
	$(PYTEST) -m slow

# What measures and trains: its types and its tests.
test-research: types-research pull
	$(PYTEST) research/tests

# An environment with all packages, in .venv.
setup: $(READY)

# All packages but torch are pinned by hash. pip shows its progress: the downloads take a minute.
$(INSTALLED): pyproject.toml requirements.hashed.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "intarsia needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { echo "python cannot make a venv: on Debian, apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --no-deps --require-hashes -r requirements.hashed.lock
	$(BIN)/python -m pip install -q --no-deps -e .
	@touch $(INSTALLED)

# Where there is no NVIDIA card, torch's CPU wheels are taken if their index answers; elsewhere, and
# on a Mac, the plain ones.
$(READY): $(INSTALLED) research/pyproject.toml requirements-dev.hashed.lock
	$(BIN)/python -m pip install --no-deps --require-hashes -r requirements-dev.hashed.lock
	@if [ "$$(uname)" = Linux ] && ! nvidia-smi -L >/dev/null 2>&1 && \
	    $(PYTHON) -c 'import urllib.request as u; u.urlopen("$(CPU_WHEELS)/torch/", timeout=5)' 2>/dev/null; \
	  then set -x; $(BIN)/python -m pip install --index-url $(CPU_WHEELS) $(TORCH); \
	  else set -x; $(BIN)/python -m pip install $(TORCH); fi
	$(BIN)/python -m pip install -q --no-deps -e ./research
	@touch $(READY)

# The VS Code extension's own checks, where there is npm to run them.
extension-check:
	@if command -v npm >/dev/null; \
	  then cd editors/vscode && npm ci --no-audit --no-fund && npm run check; \
	  else echo "npm is missing: the VS Code extension is not checked"; fi

# Plugins of other projects in a real Neovim: LLAMA_VIM and MINUET name folders with them.
foreign-clients: setup pull
	@test -n "$$LLAMA_VIM$$MINUET" || \
	  { echo "clone ggml-org/llama.vim and milanglacier/minuet-ai.nvim, and set LLAMA_VIM and MINUET"; exit 1; }
	$(BIN)/python -m pytest -v tests/cli/api/live_clients.py

# The default model is downloaded, and its file kept: tests convert it in other ways.
pull: setup
	$(BIN)/intarsia pull --keep

# llama.cpp's own server, prebuilt, in an environment of its own: tests fill holes through it.
llama-cpp: $(LLAMA_CPP_READY)

$(LLAMA_CPP_READY): tests/support/servers/requirements.txt
	$(PYTHON) -m venv --clear $(LLAMA_CPP)
	$(LLAMA_CPP)/bin/python -m pip install -q --no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

# Style, documents and the budget of lines.
lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/checks/documents.py
	@$(BIN)/python tests/checks/budget.py

# Lines and files of each part, and what is in the wheel.
figures: setup
	@$(BIN)/python tests/checks/budget.py --wheel

# How far one inline completion walks through the server.
walk: setup
	@PYTHONPATH=tests/support $(BIN)/python tests/checks/walk.py

# Machine code of the kernels for common processors, after a change of their source.
kernels: setup
	$(BIN)/python -m intarsia.engine.kernels.compiled

# Types of the product: the checker sees the folders under their one import name through links.
types: setup
	@mkdir -p build/typecheck/intarsia
	@for part in $(PARTS); do ln -sfn ../../../$$part build/typecheck/intarsia/$$part; done
	@rm -f build/typecheck/intarsia/research; ln -sfn ../../research build/typecheck/intarsia_research
	$(BIN)/mypy build/typecheck/intarsia

# Types of the laboratory.
types-research: types
	$(BIN)/mypy build/typecheck/intarsia_research

# Hashes of the locked versions.
lock: $(RELEASE_READY)
	@for name in requirements requirements-dev; do \
	  sed -n '/^#/p' $$name.hashed.lock > $(RELEASE)/locked && \
	  $(RELEASE)/bin/uv pip compile -q --generate-hashes --universal --python-version 3.11 --no-deps \
	    --no-header --no-annotate $$name.lock >> $(RELEASE)/locked && \
	  cp $(RELEASE)/locked $$name.hashed.lock || exit 1; done

# Known vulnerabilities. Strict: a version that the service does not know would be passed over.
audit: $(RELEASE_READY)
	@{ cat requirements.lock requirements-dev.lock; echo $(TORCH); } > $(RELEASE)/audited
	$(RELEASE)/bin/pip-audit --strict --disable-pip --no-deps -r $(RELEASE)/audited
	cd editors/vscode && npm audit

# Lists of what is in a release.
sbom: $(RELEASE_READY)
	@cp requirements.hashed.lock $(RELEASE)/contained
	$(RELEASE)/bin/cyclonedx-py requirements $(RELEASE)/contained --pyproject pyproject.toml \
	  -o build/server.cdx.json
	cd editors/vscode && npm sbom --package-lock-only --sbom-type application --sbom-format cyclonedx \
	  > ../../build/vscode.cdx.json

$(RELEASE_READY):
	$(PYTHON) -m venv --clear $(RELEASE)
	$(RELEASE)/bin/python -m pip install -q uv pip-audit cyclonedx-bom
	@touch $@

# Speed, beside other engines.
bench: setup
	$(BIN)/python -m intarsia_research bench

# All three sets through the language server, each way of decoding: hours on a CPU. An interrupted
# run keeps what is done.
eval: setup
	$(BIN)/python -m intarsia_research eval --set builtin --set single-line --set random-span-light \
	  --decoding autoregressive --decoding speculative \
	  --save build/eval/run.json

# Eight clients at work, a fault every minute: MINUTES=60. The report is build/soak.md.
soak: setup
	$(BIN)/python tests/support/soak --minutes $(or $(MINUTES),60)

include tests/real_editors/setup.mk
include research/editors/setup.mk
include tests/fuzz/setup.mk
include tests/live_engines/setup.mk

# What was built and installed here is removed.
clean:
	rm -rf $(VENV) build editors/vscode/node_modules editors/vscode/dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
