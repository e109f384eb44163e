"""An exported folder in transformers: the logits of our backbone, the tokenizer of the model."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from toy_causal import Kind, save_toy, toy_causal_model
from toy_gguf import ToyGguf, toy_model, write_gguf
from toy_lora import CLOSE, located, our_logits, plain_logits, save_tuning
from transformers import AutoConfig, AutoTokenizer, GenerationConfig

from intarsia.engine.errors import ModelError
from intarsia.engine.interchange.export_hugging_face import export_hugging_face
from intarsia.engine.interchange.output import OutputError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(folder))
    return folder


def exported(model: str, out: Path) -> Path:
    export_hugging_face(located(model), out)
    return out


@pytest.mark.parametrize("architecture", ["qwen2", "qwen3", "llama"])
@pytest.mark.parametrize("is_tied", [True, False])
def test_a_converted_model_has_the_same_logits_in_transformers(
    cache: Path, tmp_path: Path, architecture: Any, is_tied: bool
) -> None:
    toy = toy_model(architecture, is_tied=is_tied)
    gguf = write_gguf(tmp_path / "toy.gguf", toy, ToyGguf(architecture=architecture))
    assert located(str(gguf)).is_fused
    out = exported(str(gguf), tmp_path / "out")
    assert AutoConfig.from_pretrained(out).tie_word_embeddings == is_tied
    assert ("lm_head.weight" in load_file(out / "model.safetensors")) != is_tied
    torch.testing.assert_close(plain_logits(out), our_logits(str(gguf)), **CLOSE)


def test_a_tuning_is_in_the_weights(cache: Path, tmp_path: Path) -> None:
    gguf = write_gguf(
        tmp_path / "toy.gguf", toy_model("qwen2", is_tied=True), ToyGguf(architecture="qwen2")
    )
    tuning = save_tuning(tmp_path / "own" / "tuning.safetensors", located(str(gguf)).path)
    out = exported(f"{gguf}+{tuning}", tmp_path / "out")
    ours = our_logits(f"{gguf}+{tuning}")
    # The folder is in bfloat16 as the model is, so the sum is rounded once more than ours.
    torch.testing.assert_close(plain_logits(out), ours, atol=0.1, rtol=0.02)
    assert (plain_logits(out) - ours).abs().mean() < 0.1 * (
        our_logits(str(gguf)) - ours
    ).abs().mean()


@pytest.mark.parametrize("kind", ["qwen3", "llama3"])
def test_a_tuned_hugging_face_folder_is_merged_exactly(tmp_path: Path, kind: Kind) -> None:
    toy = save_toy(tmp_path / "toy", toy_causal_model(kind))
    tuning = save_tuning(tmp_path / "own" / "tuning.safetensors", toy)
    out = exported(f"{toy}+{tuning}", tmp_path / "out")
    torch.testing.assert_close(plain_logits(out), our_logits(f"{toy}+{tuning}"), **CLOSE)
    assert our_logits(str(out)).equal(our_logits(f"{toy}+{tuning}"))


def test_the_weights_come_back_as_they_were(tmp_path: Path) -> None:
    toy = save_toy(tmp_path / "toy", toy_causal_model("qwen2"))
    out = exported(str(toy), tmp_path / "out")
    first, second = (load_file(folder / "model.safetensors") for folder in (toy, out))
    assert first.keys() == second.keys()
    assert all(torch.equal(tensor, second[name]) for name, tensor in first.items())


def test_other_programs_learn_where_a_text_ends(cache: Path, tmp_path: Path) -> None:
    gguf = write_gguf(
        tmp_path / "toy.gguf", toy_model("qwen2", is_tied=True), ToyGguf(architecture="qwen2")
    )
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
