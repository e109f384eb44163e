"""An exported GGUF file, read by transformers and by ourselves: the same numbers as the model's."""

from pathlib import Path
from typing import Any

import gguf
import pytest
import torch
from safetensors.torch import load_file
from toy_causal import save_toy, toy_causal_model
from toy_gguf import ToyGguf, toy_model, write_gguf
from toy_lora import located, our_logits, save_tuning
from transformers import AutoConfig, AutoModelForCausalLM

from intarsia.engine.errors import ModelError
from intarsia.engine.interchange.export_gguf import export_gguf, source_of
from intarsia.engine.interchange.export_hugging_face import export_hugging_face
from intarsia.engine.interchange.output import OutputError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path / "cache"))


def no_progress(stage: str, fraction: float | None) -> None:
    pass


def toy_file(path: Path, architecture: Any = "qwen2", *, is_tied: bool = True) -> Path:
    toy = ToyGguf(architecture=architecture, repeats_tied_output=is_tied)
    return write_gguf(path, toy_model(architecture, is_tied=is_tied), toy)


def exported(model: str, out: Path) -> Path:
    export_gguf(located(model), source_of(model, no_progress), out)
    return out


@pytest.mark.parametrize("architecture", ["qwen2", "qwen3", "llama"])
@pytest.mark.parametrize("is_tied", [True, False])
def test_transformers_reads_the_tuned_weights(
    tmp_path: Path, architecture: Any, is_tied: bool
) -> None:
    source = toy_file(tmp_path / "toy.gguf", architecture, is_tied=is_tied)
    tuning = save_tuning(tmp_path / "own" / "t.safetensors", located(str(source)).path)
    model = f"{source}+{tuning}"
    out = exported(model, tmp_path / "out" / "tuned.gguf")
    export_hugging_face(located(model), tmp_path / "hf")
    expected = load_file(tmp_path / "hf" / "model.safetensors")
    read = AutoModelForCausalLM.from_pretrained(
        out.parent,
        gguf_file=out.name,
        config=AutoConfig.from_pretrained(tmp_path / "hf"),  # it guesses Qwen3's size of a head
        dtype=torch.float32,
    ).state_dict()
    if is_tied:
        assert read.pop("lm_head.weight").equal(read["model.embed_tokens.weight"])
    assert read.keys() == expected.keys()
    assert all(tensor.float().equal(read[name]) for name, tensor in expected.items())
    names = {tensor.name for tensor in gguf.GGUFReader(out).tensors}
    assert ("output.weight" in names) != is_tied


@pytest.mark.parametrize("architecture", ["qwen2", "llama"])
def test_a_file_comes_back_as_the_same_model(tmp_path: Path, architecture: Any) -> None:
    source = toy_file(tmp_path / "toy.gguf", architecture)
    out = exported(str(source), tmp_path / "again.gguf")
    assert our_logits(str(out)).equal(our_logits(str(source)))
    first, second = (located(str(file)) for file in (source, out))
    tokenizers = [(folder.path / "tokenizer.json").read_bytes() for folder in (first, second)]
    assert tokenizers[0] == tokenizers[1]
    assert first.config == second.config


def test_metadata_is_copied_with_its_types(tmp_path: Path) -> None:
    source = toy_file(tmp_path / "toy.gguf")
    out = exported(str(source), tmp_path / "again.gguf")
    before, after = (gguf.GGUFReader(path).fields for path in (source, out))
    own = {"general.name", "general.file_type", *(key for key in before if key[:5] == "GGUF.")}
    assert before.keys() - own == after.keys() - own
    for key in before.keys() - own:
        assert before[key].types == after[key].types, key
        assert before[key].contents() == after[key].contents(), key
    assert after["general.name"].contents() == "toy"
    assert after["general.file_type"].contents() == gguf.LlamaFileType.MOSTLY_BF16
    kinds = {tensor.name: tensor.tensor_type for tensor in gguf.GGUFReader(out).tensors}
    assert kinds["blk.0.attn_q.weight"] == gguf.GGMLQuantizationType.BF16
    assert kinds["blk.0.attn_q.bias"] == gguf.GGMLQuantizationType.F32


def test_what_has_no_source_or_no_place_is_refused(tmp_path: Path) -> None:
    folder = save_toy(tmp_path / "toy", toy_causal_model("qwen2"))
    with pytest.raises(ModelError, match="was not converted from a GGUF file: run `intarsia"):
        source_of(f"{folder}+none", no_progress)
    source = toy_file(tmp_path / "toy.gguf")
    (tmp_path / "taken.gguf").write_text("mine")
    with pytest.raises(OutputError, match="exists: remove it"):
        exported(str(source), tmp_path / "taken.gguf")
    with pytest.raises(OutputError, match="cannot write"):
        exported(str(source), tmp_path / "taken.gguf" / "below.gguf")
    (tmp_path / "damaged.gguf").write_bytes(source.read_bytes()[:100])
    with pytest.raises(ModelError, match="is not a GGUF file, or is damaged"):
        export_gguf(located(str(source)), tmp_path / "damaged.gguf", tmp_path / "out.gguf")
    assert sorted(path.name for path in tmp_path.glob("*.gguf")) == [
        "damaged.gguf",
        "taken.gguf",
        "toy.gguf",
    ]
    assert not list(tmp_path.glob(".*.partial"))
