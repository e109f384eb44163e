# Engines of other projects, each in an environment of its own: build/servers/NAME. Lists of
# requirements are whole, since packages ask for more than the tests need (CUDA, TensorFlow).
LIVE_ENGINES := $(basename $(notdir $(wildcard tests/live_engines/requirements/*.txt)))
LIVE_ENGINES_READY := $(LIVE_ENGINES:%=build/servers/%/.ready)

.PHONY: engines

# The tests with engines of other projects.
engines: setup pull llama-cpp $(LIVE_ENGINES_READY)
	$(BIN)/python -m pytest tests/live_engines

build/servers/%/.ready: tests/live_engines/requirements/%.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install -q --no-deps --ignore-requires-python -r $<
	@touch $@
