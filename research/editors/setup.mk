# Times in real editors, which tests/real_editors/setup.mk has put into build/editors.
EDITORS_PYTHON := PYTHONPATH=tests/support:tests/support/editors:tests/real_editors $(BIN)/python

.PHONY: bench-editors fresh-machine

# Times in real editors: MINUTES=10.
bench-editors: editors
	$(EDITORS_PYTHON) research/editors/bench_vscode_latency.py --json $(EDITORS)/latency.json
	$(EDITORS_PYTHON) research/editors/bench_vscode_start.py --json $(EDITORS)/start.json
	$(EDITORS_PYTHON) research/editors/bench_vscode_typing.py --minutes $(or $(MINUTES),10) --json $(EDITORS)/typing.json
	$(EDITORS_PYTHON) research/editors/bench_neovim.py keys --count 50
	$(EDITORS_PYTHON) research/editors/bench_neovim.py start --pairs 20
	$(EDITORS_PYTHON) research/editors/bench_neovim.py typing --minutes $(or $(MINUTES),10)

# From nothing to the first suggestion, in real editors.
fresh-machine: editors
	$(EDITORS_PYTHON) research/editors/fresh_machine.py --json $(EDITORS)/fresh-machine.json
	$(EDITORS_PYTHON) research/editors/fresh_machine_neovim.py
