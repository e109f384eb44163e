"""What is no plain LoRA of this model is refused, with one plain line each. Nothing is written."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from toy_causal import located, save_drafter, save_toy, toy_causal_model
from toy_lora import save_lora, save_tuning

from intarsia.engine.errors import ModelError
from intarsia.engine.interchange.output import OutputError
from intarsia.engine.interchange.peft import export_peft, import_peft

TENSORS = "adapter_model.safetensors"
Q_DOWN = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"


@pytest.fixture
def lora(toy: Path, tmp_path: Path) -> Path:
    return save_lora(tmp_path / "lora", toy)


def refusal(lora: Path, toy: Path) -> str:
    out = lora.parent / "tuning.safetensors"
    before = sorted(lora.parent.iterdir())
    with pytest.raises(ModelError) as caught:
        import_peft(lora, located(str(toy)), out)
    assert sorted(lora.parent.iterdir()) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def change_config(lora: Path, **changes: Any) -> None:
    path = lora / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def change_tensors(lora: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = load_file(lora / TENSORS)
    change(tensors)
    save_file(tensors, lora / TENSORS)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"peft_type": "IA3"}, "its peft_type is 'IA3'"),
        ({"use_dora": True}, "it is a DoRA"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"bias": "all"}, "it changes biases (bias 'all')"),
        ({"lora_bias": True}, "lora_bias"),
        ({"fan_in_fan_out": True}, "transposed"),
        ({"layer_replication": [[0, 2]]}, "repeats layers"),
        ({"trainable_token_indices": [1]}, "it changes embeddings"),
        ({"target_parameters": ["experts"]}, "not linear layers"),
        ({"alora_invocation_tokens": [3]}, "on some tokens only"),
        ({"init_lora_weights": "pissa"}, "its weights began as 'pissa'"),
        ({"something_new": True}, "the option something_new is unknown"),
        ({"r": 0}, "lacks or mistypes r"),
        ({"r": "4"}, "lacks or mistypes r"),
        ({"r": True}, "lacks or mistypes r"),
        ({"lora_alpha": None}, "lacks or mistypes lora_alpha"),
        ({"lora_alpha": 10**400}, "lacks or mistypes"),
        ({"lora_alpha": float("nan")}, "lacks or mistypes lora_alpha"),
        ({"rank_pattern": {"(a+)+$": 2}}, "its key '(a+)+$' is not the end of a module's path"),
        ({"rank_pattern": ["q_proj"]}, "lacks or mistypes rank_pattern"),
        ({"rank_pattern": {"q_proj": 2.5}}, "lacks or mistypes rank_pattern"),
        ({"alpha_pattern": {"q_proj": "1"}}, "lacks or mistypes alpha_pattern"),
        ({"r": 8}, "lora_A.weight is [4, 96], needed [8, 96] by the config's rank"),
        ({"rank_pattern": {"v_proj": 3}}, "v_proj.lora_A.weight is [4, 64], needed [3, 64]"),
    ],
)
def test_a_config_that_is_no_plain_lora(lora, toy, changes, said):
    change_config(lora, **changes)
    assert said in refusal(lora, toy)


@pytest.mark.parametrize("value", [None, False, [], {}, ""])
def test_an_unknown_option_that_is_switched_off_is_ignored(lora, toy, value, tmp_path):
    change_config(lora, something_new=value)
    assert import_peft(lora, located(str(toy)), tmp_path / "t.safetensors").num_modules == 21


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is damaged ("),
        ("[]", "is damaged (not a JSON object)"),
        ("[" * 100_000, "is damaged ("),
        ('{"a": "' + "a" * 2**20 + '"}', "it is larger than 1 MB"),
        ("\udcff", "is damaged ("),
    ],
)
def test_a_damaged_config(lora: Path, toy: Path, text: str, said: str) -> None:
    (lora / "adapter_config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert said in refusal(lora, toy)


def test_a_folder_without_a_lora_or_with_one_cut_off_or_pickled(lora, toy, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "has no adapter_config.json" in refusal(tmp_path / "empty", toy)
    assert "has no adapter_config.json" in refusal(tmp_path / "missing", toy)
    (lora / TENSORS).write_bytes((lora / TENSORS).read_bytes()[:-9])
    assert "is damaged (" in refusal(lora, toy)
    (lora / TENSORS).unlink()
    assert f"has no {TENSORS}" in refusal(lora, toy)
    (lora / "adapter_model.bin").write_bytes(b"not even a pickle")
    assert "only as a pickle (adapter_model.bin)" in refusal(lora, toy)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
def test_a_config_that_is_a_pipe_or_a_device_is_not_waited_for(lora: Path, toy: Path) -> None:
    config = lora / "adapter_config.json"
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        config.unlink()
        make(config)
        assert "it is no regular file" in refusal(lora, toy)


def test_numbers_too_large_to_compute_with(lora: Path, toy: Path) -> None:
    change_config(lora, lora_alpha=1e300)
    assert "too large to compute with" in refusal(lora, toy)
    change_config(lora, lora_alpha=16)
    change_tensors(lora, lambda them: [them[name].fill_(3e38) for name in them])
    assert "too large to compute with" in refusal(lora, toy)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.pop(Q_DOWN), f"lacks {Q_DOWN}"),
        (lambda t: t.update({Q_DOWN: t[Q_DOWN][:, :5].clone()}), "does not fit"),
        (lambda t: t.update({Q_DOWN: t[Q_DOWN].flatten()}), "does not fit"),
        (lambda t: t.update({Q_DOWN: t[Q_DOWN] / 0}), "numbers in model.layers.0.self_attn.q_proj"),
        (lambda t: t.update({Q_DOWN: t[Q_DOWN].double()}), "in the number format F64"),
        (lambda t: t.update({Q_DOWN: t[Q_DOWN].to(torch.int8)}), "in the number format I8"),
        (lambda t: t.update({Q_DOWN.replace("lora_A", "lora_C"): t[Q_DOWN].clone()}), "lora_C"),
        (lambda t: t.update({"lm_head.weight": torch.ones(2)}), "has lm_head.weight, which"),
        (
            lambda t: t.update({Q_DOWN.replace("layers.0", "layers.3"): t[Q_DOWN].clone()}),
            "layers.3.self_attn.q_proj.lora_A.weight, which a tuning cannot change",
        ),
        (
            lambda t: [t.pop(name) for name in list(t) if "layers.1.mlp.up_proj" in name],
            "lacks model.layers.1.mlp.up_proj, which its config lists in target_modules",
        ),
        (lambda t: [t[name].zero_() for name in t if "lora_B" in name], "changes nothing"),
    ],
)
def test_tensors_that_do_not_fit(lora, toy, change, said):
    change_tensors(lora, change)
    assert said in refusal(lora, toy)


@pytest.mark.filterwarnings("ignore:Setting `save_embedding_layers`:UserWarning")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"use_dora": True}, "it is a DoRA"),
        ({"modules_to_save": ["lm_head"], "target_modules": ["q_proj"]}, "modules_to_save"),
        ({"target_modules": ["q_proj", "embed_tokens"]}, "embed_tokens"),
    ],
)
def test_what_peft_itself_writes_beside_a_plain_lora(tmp_path, options, said):
    toy = save_toy(tmp_path / "toy", toy_causal_model("qwen2", is_tied=False))
    assert said in refusal(save_lora(tmp_path / "lora", toy, **options), toy)


def test_only_a_tuning_of_this_model_is_exported(toys, toy, tmp_path):
    def said(file: Path) -> str:
        with pytest.raises(ModelError) as caught:
            export_peft(located(str(toy)), [file], tmp_path / "out", base_model="toy")
        assert not (tmp_path / "out").exists()
        return str(caught.value)

    drafter = save_drafter(tmp_path / "drafter.safetensors", toy)
    assert "is a drafter" in said(drafter)
    tuning = save_tuning(tmp_path / "tuning.safetensors", toy)
    tensors = load_file(tuning)
    save_file(tensors | {"A.o9": tensors["A.o0"].clone()}, tuning)
    assert "it holds A.o9" in said(tuning)
    save_file({name: t for name, t in tensors.items() if name != "B.d2"}, tuning)
    assert "it lacks B.d2" in said(tuning)
    save_file(tensors | {"A.o0": tensors["A.o0"][:2].clone()}, tuning)
    assert "o0 is (64, 4) by (2, 64)" in said(tuning)
    save_file({name: torch.zeros_like(tensor) for name, tensor in tensors.items()}, tuning)
    assert "changes nothing" in said(tuning)


def test_nothing_is_overwritten(lora: Path, toy: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken.safetensors"
    taken.write_text("mine")
    with pytest.raises(OutputError, match="exists: remove it"):
        import_peft(lora, located(str(toy)), taken)
    tuning = save_tuning(tmp_path / "tuning.safetensors", toy)
    with pytest.raises(OutputError, match="exists: remove it"):
        export_peft(located(str(toy)), [tuning], lora, base_model="toy")
    with pytest.raises(OutputError, match="cannot write"):
        export_peft(located(str(toy)), [tuning], taken / "below", base_model="toy")
    assert taken.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.glob(".*")) == []
