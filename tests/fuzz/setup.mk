# Fuzzing: FUZZ_OPTIONS="--seconds 60 --seed 1 positions" limits a run; see --help.
FUZZ := build/fuzz
FUZZ_READY := $(FUZZ)/env/.ready

.PHONY: fuzz

# Random input for what reads files and messages.
fuzz: setup $(FUZZ_READY)
	$(BIN)/python tests/fuzz/fuzz.py $(FUZZ_OPTIONS)

# Atheris, a coverage-guided fuzzer, in an environment of its own that borrows our packages.
$(FUZZ_READY): $(READY) tests/fuzz/requirements.txt
	$(PYTHON) -m venv --clear $(FUZZ)/env
	$(FUZZ)/env/bin/python -m pip install -q --no-deps --only-binary :all: --require-hashes \
	  -r tests/fuzz/requirements.txt
	@for site in $(FUZZ)/env/lib/python3*/site-packages; do \
	  echo "import site; site.addsitedir('$$(echo $(CURDIR)/$(VENV)/lib/python3*/site-packages)')" \
	    > $$site/borrowed.pth; done
	@touch $@
