"""Exports of a model: the numbers and the tokenizer are those of the model, in the other format."""

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor
from toy_causal import Kind, located, quiet, save_toy, toy_causal_model
from toy_gguf import ToyGguf, toy_model, write_gguf
from toy_lora import CLOSE, our_logits, plain_logits, save_tuning
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from intarsia.engine.errors import ModelError
from intarsia.engine.interchange.export_gguf import export_gguf, source_of
from intarsia.engine.interchange.export_hugging_face import export_hugging_face
from intarsia.engine.interchange.output import OutputError


def toy_file(path: Path, architecture: Any = "qwen2", *, is_tied: bool = True) -> Path:
    toy = ToyGguf(architecture=architecture, repeats_tied_output=is_tied)
    return write_gguf(path, toy_model(architecture, is_tied=is_tied), toy)


def exported(model: str, out: Path) -> Path:
    export_hugging_face(located(model), out)
    return out


def stored(tensor: Tensor, kind: gguf.GGMLQuantizationType) -> Tensor:
    """Return the tensor as stored in this quantisation, then rounded to bf16."""
    array = tensor.detach().numpy().astype(np.float32)
    if array.ndim == 2:
        array = gguf.dequantize(gguf.quantize(array, kind), kind)
    return torch.from_numpy(np.array(array)).bfloat16()


@pytest.mark.parametrize("architecture", ["qwen2", "qwen3", "llama"])
@pytest.mark.parametrize("is_tied", [True, False])
def test_a_converted_model_has_the_weights_as_stored_and_the_same_logits_in_transformers(
    cache, tmp_path, architecture, is_tied
):
    """Of a tied matrix that was stored twice, the finer form is kept."""
    file = toy_file(tmp_path / "toy.gguf", architecture, is_tied=is_tied)
    assert located(str(file)).is_fused
    out = exported(str(file), tmp_path / "out")
    assert AutoConfig.from_pretrained(out).tie_word_embeddings == is_tied
    state = load_file(out / "model.safetensors")
    original = toy_model(architecture, is_tied=is_tied).state_dict()
    assert set(state) == set(original) - ({"lm_head.weight"} if is_tied else set())
    for name, tensor in state.items():
        is_coarse = name == "model.embed_tokens.weight" and not is_tied
        kind = gguf.GGMLQuantizationType.Q5_0 if is_coarse else gguf.GGMLQuantizationType.Q8_0
        assert torch.equal(tensor, stored(original[name], kind)), name
    torch.testing.assert_close(plain_logits(out), our_logits(str(file)), **CLOSE)


@pytest.mark.parametrize("kind", ["qwen3", "llama3"])
def test_a_tuned_hugging_face_folder_is_merged_exactly(tmp_path: Path, kind: Kind) -> None:
    toy = save_toy(tmp_path / "toy", toy_causal_model(kind))
    tuning = save_tuning(tmp_path / "own" / "tuning.safetensors", toy)
    out = exported(f"{toy}+{tuning}", tmp_path / "out")
    torch.testing.assert_close(plain_logits(out), our_logits(f"{toy}+{tuning}"), **CLOSE)
    assert our_logits(str(out)).equal(our_logits(f"{toy}+{tuning}"))


def test_other_programs_learn_where_a_text_ends(cache: Path, tmp_path: Path) -> None:
    gguf = toy_file(tmp_path / "toy.gguf")
    out = exported(str(gguf), tmp_path / "out")
    own = Tokenizer.from_file(str(located(str(gguf)).path / "tokenizer.json"))
    end = own.token_to_id("<|endoftext|>")
    ends = GenerationConfig.from_pretrained(out).eos_token_id
    assert end in ends
    tokenizer = AutoTokenizer.from_pretrained(out)
    assert tokenizer.eos_token_id == end
    text = "<|fim_prefix|>def f(x):\n\treturn é😀 <|fim_suffix|>)\n<|fim_middle|>"
    ids = tokenizer(text, add_special_tokens=False).input_ids
    assert ids == own.encode(text).ids
    assert tokenizer.decode(ids) == text


def test_a_models_own_files_beside_the_weights_are_kept(tmp_path: Path) -> None:
    toy = save_toy(tmp_path / "toy", toy_causal_model("qwen2"))
    (toy / "tokenizer_config.json").write_text('{"tokenizer_class": "Own"}')
    (toy / "secret.env").write_text("KEY=1")
    out = exported(str(toy), tmp_path / "out")
    assert json.loads((out / "tokenizer_config.json").read_text()) == {"tokenizer_class": "Own"}
    assert not (out / "secret.env").exists()


def test_nothing_is_left_of_an_export_that_fails(tmp_path: Path) -> None:
    toy = save_toy(tmp_path / "toy", toy_causal_model("qwen2"))
    other = save_toy(tmp_path / "other", toy_causal_model("llama"))
    wide = save_tuning(tmp_path / "own" / "tuning.safetensors", other)
    config = json.loads((toy / "config.json").read_text())
    (toy / "config.json").write_text(json.dumps(config | {"hidden_size": 32}))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ModelError):
        exported(f"{toy}+{wide}", tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    with pytest.raises(OutputError, match="exists"):
        exported(str(other), tmp_path / "out")


def exported_gguf(model: str, out: Path) -> Path:
    export_gguf(located(model), source_of(model, quiet), out)
    return out


@pytest.mark.parametrize("architecture", ["qwen2", "qwen3", "llama"])
@pytest.mark.parametrize("is_tied", [True, False])
def test_transformers_reads_the_tuned_weights(cache, tmp_path, architecture, is_tied):
    source = toy_file(tmp_path / "toy.gguf", architecture, is_tied=is_tied)
    tuning = save_tuning(tmp_path / "own" / "t.safetensors", located(str(source)).path)
    model = f"{source}+{tuning}"
    out = exported_gguf(model, tmp_path / "out" / "tuned.gguf")
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
    # The folder is in bfloat16 as the model is, so the sum is rounded once more than ours.
    ours, plain = our_logits(model), our_logits(str(source))
    theirs = plain_logits(tmp_path / "hf")
    torch.testing.assert_close(theirs, ours, atol=0.1, rtol=0.02)
    assert (theirs - ours).abs().mean() < 0.1 * (plain - ours).abs().mean()


@pytest.mark.parametrize("architecture", ["qwen2", "llama"])
def test_a_file_comes_back_as_the_same_model(cache, tmp_path, architecture):
    source = toy_file(tmp_path / "toy.gguf", architecture)
    out = exported_gguf(str(source), tmp_path / "again.gguf")
    assert our_logits(str(out)).equal(our_logits(str(source)))
    first, second = (located(str(file)) for file in (source, out))
    tokenizers = [(folder.path / "tokenizer.json").read_bytes() for folder in (first, second)]
    assert tokenizers[0] == tokenizers[1]
    assert first.config == second.config


def test_metadata_is_copied_with_its_types(cache: Path, tmp_path: Path) -> None:
    source = toy_file(tmp_path / "toy.gguf")
    out = exported_gguf(str(source), tmp_path / "again.gguf")
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


def test_what_has_no_source_or_no_place_is_refused(cache: Path, tmp_path: Path) -> None:
    folder = save_toy(tmp_path / "toy", toy_causal_model("qwen2"))
    with pytest.raises(ModelError, match="was not converted from a GGUF file: run `intarsia"):
        source_of(f"{folder}+none", quiet)
    source = toy_file(tmp_path / "toy.gguf")
    (tmp_path / "taken.gguf").write_text("mine")
    with pytest.raises(OutputError, match="exists: remove it"):
        exported_gguf(str(source), tmp_path / "taken.gguf")
    with pytest.raises(OutputError, match="cannot write"):
        exported_gguf(str(source), tmp_path / "taken.gguf" / "below.gguf")
    (tmp_path / "damaged.gguf").write_bytes(source.read_bytes()[:100])
    with pytest.raises(ModelError, match="is not a GGUF file, or is damaged"):
        export_gguf(located(str(source)), tmp_path / "damaged.gguf", tmp_path / "out.gguf")
    written = {path.name for path in tmp_path.glob("*.gguf")}
    assert written == {"damaged.gguf", "taken.gguf", "toy.gguf"}
    assert not list(tmp_path.glob(".*.partial"))
