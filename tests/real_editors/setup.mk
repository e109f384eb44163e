# Real editors: what they need is put into build/editors. Tests run in them, and research/editors.
EDITORS := build/editors
EDITORS_READY := $(EDITORS)/.ready
EDITORS_DEBIAN := chromium build-essential pkg-config libkrb5-dev libsecret-1-dev libx11-dev libxkbfile-dev \
  emacs-nox elpa-eglot elpa-lsp-mode kakoune kate xvfb xdotool dbus fonts-dejavu-core

.PHONY: editors extension test-editors

# code-server (VS Code 1.139 for a browser) builds parts of itself, and only on node 24.
$(EDITORS_READY): $(READY) tests/real_editors/setup.mk tests/real_editors/requirements.txt
	@dpkg -s $(EDITORS_DEBIAN) >/dev/null 2>&1 || \
	  { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y -qq $(EDITORS_DEBIAN); } || \
	  { echo "as root: apt-get install $(EDITORS_DEBIAN)"; exit 1; }
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js from nodejs.org"; exit 1; }
	@mkdir -p $(EDITORS)
	@PATH="$(CURDIR)/$(EDITORS)/node_modules/.bin:$$PATH" \
	  $(EDITORS)/node_modules/.bin/code-server --version >/dev/null 2>&1 || \
	  rm -rf $(EDITORS)/node_modules  # npm cannot go on where it failed
	npm install --no-audit --no-fund --prefix $(EDITORS) node@24
	PATH="$(CURDIR)/$(EDITORS)/node_modules/.bin:$$PATH" \
	  npm install --no-audit --no-fund --prefix $(EDITORS) code-server@4.139.1
	$(BIN)/python -m pip install -q -r tests/real_editors/requirements.txt
	$(BIN)/python tests/support/editors/debian_packages.py
	@touch $@

# The extension of VS Code, as a .vsix.
extension: setup
	cd editors/vscode && npm ci --no-audit --no-fund && PYTHON="$(CURDIR)/$(BIN)/python" npm run package

# What the tests in real editors need.
editors: $(EDITORS_READY) extension pull

# The tests in real editors: VS Code, Neovim in a terminal, Emacs, Helix, Kate, Kakoune.
test-editors: editors
	$(BIN)/python -m pytest tests/real_editors
