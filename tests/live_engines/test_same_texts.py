"""The same holes in our engine, llama.cpp and vLLM, with the weights that `intarsia export` wrote.

Twelve holes; for more of these, and for the figures, see docs/remote-engines.md.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import ROOT
from exported_model import exported
from llama_cpp import SERVER_PYTHON as LLAMA_CPP_PYTHON
from llama_cpp import llama_cpp_server
from remote_settings import RemoteSettings
from vllm_server import SERVER_PYTHON as VLLM_PYTHON
from vllm_server import vllm_server

from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia_research.peers.same_texts.compare import compare
from intarsia_research.peers.same_texts.holes import line_holes
from intarsia_research.peers.same_texts.kept import KeptHoles
from intarsia_research.peers.same_texts.writers import (
    RemoteEngine,
    Writer,
    WrittenHole,
    load_own_engine,
    open_remote_engine,
)

pytestmark = pytest.mark.timeout(1_800)

HUMANEVAL = ROOT / "tests/data/human-eval-infilling/HumanEval-SingleLineInfilling.jsonl.gz"
NUM_HOLES, LEAST_EQUAL = 12, 11


@pytest.fixture
def engines(
    tuned_folder: Path, tmp_path: Path, settings: RemoteSettings
) -> Iterator[list[RemoteEngine]]:
    """llama.cpp and vLLM with our tuned model."""
    for python in (LLAMA_CPP_PYTHON, VLLM_PYTHON):
        if not python.exists():
            pytest.skip(f"{python} is missing: run `make engines`")
    key = tmp_path / "key"
    key.write_text("key")
    key.chmod(0o600)
    gguf = exported("gguf", tmp_path / "tuned.gguf", DEFAULT_MODEL)
    with (
        llama_cpp_server(tmp_path / "llama.log", gguf) as llama_cpp,
        vllm_server(tuned_folder, tmp_path / "vllm.log", keys=["key"]) as vllm,
    ):
        yield [
            open_remote_engine(settings.write(llama_cpp.url, timeout_s=300)),
            open_remote_engine(settings.write(vllm.url, timeout_s=300, key_file=str(key))),
        ]


def test_texts_are_equal_but_for_rounding(engines: list[RemoteEngine]) -> None:
    judge = load_own_engine(DEFAULT_MODEL, "float32")
    holes = line_holes(HUMANEVAL, judge.text, num_holes=NUM_HOLES, max_tokens=16, seed=7)
    kept, num_at_once = KeptHoles(None), 2
    systems: list[tuple[Writer, list[WrittenHole]]] = []
    for engine in (judge, *engines):
        number = 1 if engine is judge else num_at_once
        written = kept.write_all(engine, holes, num_at_once=number, on_done=lambda _: None)
        systems.append((engine, written))
    pairs = compare(holes, systems, judge)
    assert [pair.names[1] for pair in pairs] == ["llama.cpp (BF16)", "vLLM", "vLLM"]
    for pair in pairs:
        assert pair.num_equal + pair.num_near_ties >= LEAST_EQUAL, pair
