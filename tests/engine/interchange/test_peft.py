"""Refusals, and both directions against PEFT itself: the same logits and numbers.

Of DiffusionGemma: a tiny random checkpoint, the LoRA of its decoder, and merged weights.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_diffusion_gemma import load_toy, save_toy_checkpoint
from toy_causal import located, save_drafter, save_toy, toy_causal_model
from toy_lora import CLOSE, our_logits, peft_logits, plain_logits, save_lora, save_tuning

from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.load import tunable_layers
from intarsia.engine.interchange.export_hugging_face import export_hugging_face
from intarsia.engine.interchange.output import OutputError
from intarsia.engine.interchange.peft import export_peft, import_peft


def exported(folder: Path, tunings: list[Path], out: Path) -> Path:
    export_peft(located(str(folder)), tunings, out, base_model=str(folder))
    return out


def imported(lora: Path, folder: Path, out: Path) -> Path:
    import_peft(lora, located(str(folder)), out)
    return out


def assert_same_numbers(first: Path, second: Path) -> None:
    one, other = load_file(first), load_file(second)
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor.float(), other[name].float()), name


@pytest.mark.parametrize("kind", ["qwen2", "qwen3", "llama3"])
def test_an_exported_tuning_is_computed_by_peft_as_by_us(toys, kind, tmp_path):
    toy = toys[kind]
    tuning = save_tuning(tmp_path / "tuning.safetensors", toy)
    lora = exported(toy, [tuning], tmp_path / "lora")
    ours = our_logits(f"{toy}+{tuning}")
    torch.testing.assert_close(peft_logits(toy, lora), ours, **CLOSE)
    assert not torch.allclose(plain_logits(toy), ours, atol=0.1), "the tuning does something"


def test_two_tunings_are_exported_as_their_sum(toy: Path, tmp_path: Path) -> None:
    first = save_tuning(tmp_path / "first.safetensors", toy, rank=4)
    second = save_tuning(tmp_path / "second.safetensors", toy, seed=1, rank=2)
    both = exported(toy, [first, second], tmp_path / "lora")
    tuning = imported(both, toy, tmp_path / "both.safetensors")
    torch.testing.assert_close(peft_logits(toy, both), our_logits(f"{toy}+{tuning}"), **CLOSE)
    one, other, joined = load_file(first), load_file(second), load_file(tuning)
    assert torch.equal(joined["A.o1"], torch.cat([one["A.o1"], other["A.o1"]]))
    assert torch.equal(joined["B.gu0"], torch.cat([one["B.gu0"], other["B.gu0"]], dim=1))


def test_a_tuning_comes_back_as_it_was(toy: Path, tmp_path: Path) -> None:
    tuning = save_tuning(tmp_path / "tuning.safetensors", toy)
    back = imported(exported(toy, [tuning], tmp_path / "lora"), toy, tmp_path / "back.safetensors")
    assert_same_numbers(tuning, back)
    assert back.stat().st_size < 1.1 * tuning.stat().st_size, "in bfloat16, as it was"


LORAS: dict[str, dict[str, Any]] = {
    "plain": {},
    "scale of ours": {"lora_alpha": 8},
    "rank-stabilised": {"use_rslora": True, "r": 3},
    "two modules": {"target_modules": ["q_proj", "v_proj"]},
    "one layer": {"layers_to_transform": [1]},
    "ranks and scales of their own": {
        "rank_pattern": {"q_proj": 2, "model.layers.1.mlp.down_proj": 7},
        "alpha_pattern": {"v_proj": 1, "layers.2.self_attn.o_proj": 11},
    },
    "rank-stabilised with a pattern": {"use_rslora": True, "rank_pattern": {"k_proj": 9}},
    "an expression of targets": {"target_modules": r".*\.(k_proj|up_proj)"},
    "all linear layers": {"target_modules": "all-linear"},
}


@pytest.mark.parametrize("name", LORAS)
def test_a_lora_of_peft_is_computed_by_us_as_by_peft(toy: Path, name: str, tmp_path: Path) -> None:
    lora = save_lora(tmp_path / "lora", toy, **LORAS[name])
    tuning = imported(lora, toy, tmp_path / "tuning.safetensors")
    ours = our_logits(f"{toy}+{tuning}")
    torch.testing.assert_close(ours, peft_logits(toy, lora), **CLOSE)
    assert not torch.allclose(plain_logits(toy), ours, atol=0.02), "the LoRA does something"


def test_a_lora_of_peft_comes_back_as_it_was(toy: Path, tmp_path: Path) -> None:
    """With our scale, and each module with a rank of its own in the joined matrices."""
    lora = save_lora(tmp_path / "lora", toy, lora_alpha=8)
    tuning = imported(lora, toy, tmp_path / "tuning.safetensors")
    back = exported(toy, [tuning], tmp_path / "back")
    name = "adapter_model.safetensors"
    assert_same_numbers(lora / name, back / name)


def as_nemo_automodel(config: dict[str, Any], modules: list[str]) -> dict[str, Any]:
    """It names each module by its whole path, and none of PEFT's options that are off."""
    kept = ("task_type", "peft_type", "r", "lora_alpha", "use_dora", "bias")
    short = {name: config[name] for name in kept}
    return short | {"target_modules": modules, "base_model_name_or_path": "N/A"}


def as_unsloth(config: dict[str, Any], modules: list[str]) -> dict[str, Any]:
    """It notes the class of the model, and writes the targets as one expression."""
    expression = r"(?:.*?(?:self_attn|mlp).*?(?:q_proj|k_proj|v_proj|o_proj|down_proj).*?)"
    mapping = {"base_model_class": "Qwen2ForCausalLM", "unsloth_fixed": True}
    return config | {"auto_mapping": mapping, "target_modules": expression}


@pytest.mark.parametrize("written_by", [as_nemo_automodel, as_unsloth])
def test_the_configs_of_other_programs_are_read(toy, tmp_path, written_by):
    targets = ["q_proj", "k_proj", "v_proj", "o_proj", "down_proj"]
    lora = save_lora(tmp_path / "lora", toy, target_modules=targets)
    path = lora / "adapter_config.json"
    names = load_file(lora / "adapter_model.safetensors")
    modules = {name.removeprefix("base_model.model.").rpartition(".lora_")[0] for name in names}
    path.write_text(json.dumps(written_by(json.loads(path.read_text()), sorted(modules))))
    tuning = imported(lora, toy, tmp_path / "tuning.safetensors")
    torch.testing.assert_close(our_logits(f"{toy}+{tuning}"), peft_logits(toy, lora), **CLOSE)


TENSORS = "adapter_model.safetensors"


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy_checkpoint(tmp_path_factory.mktemp("gemma-gemma"))


@pytest.fixture
def tuning(gemma: Path, tmp_path: Path) -> Path:
    """A random tuning that leaves one kind of module as it is."""
    random = torch.Generator().manual_seed(0)
    tensors = {}
    for name, (linear, *_) in tunable_layers(load_toy(gemma).model).items():
        strength = 0.0 if name.endswith("k_proj") else 0.1
        up = torch.randn(linear.out_features, 3, generator=random) * strength
        down = torch.randn(3, linear.in_features, generator=random) * 0.1
        tensors |= {f"A.{name}": down.bfloat16(), f"B.{name}": up.bfloat16()}
    path = tmp_path / "tuned" / "tuning.safetensors"
    path.parent.mkdir()
    save_file(tensors, path)
    return path


@pytest.fixture
def lora(gemma: Path, tuning: Path, tmp_path: Path) -> Path:
    written = export_peft(located(str(gemma)), [tuning], tmp_path / "lora", base_model="gemma")
    assert (written.rank, written.num_modules) == (3, 17)
    return tmp_path / "lora"


def test_the_lora_is_the_decoders(lora: Path) -> None:
    names = load_file(lora / TENSORS).keys()
    assert "base_model.model.model.decoder.layers.0.self_attn.q_proj.lora_A.weight" in names
    assert all(name.startswith("base_model.model.model.decoder.layers.") for name in names)
    assert not [name for name in names if "k_proj" in name], "it is not changed anywhere"


def test_merged_by_peft_it_gives_the_weights_of_ours(gemma: Path, tuning: Path, lora: Path) -> None:
    """Encoder and decoder share weights, so a merged LoRA changes both, as ours does."""
    ours = tunable_layers(load_toy(gemma, tuning).model)
    merged = peft.PeftModel.from_pretrained(load_toy(gemma).model, lora).merge_and_unload()
    theirs, before = tunable_layers(merged), tunable_layers(load_toy(gemma).model)
    assert theirs.keys() == ours.keys()
    for name, twins in theirs.items():
        for twin, own, plain in zip(twins, ours[name], before[name], strict=True):
            torch.testing.assert_close(twin.weight, own.weight)
            assert torch.equal(own.weight, plain.weight) == name.endswith("k_proj")


def test_a_tuning_of_its_decoder_comes_back_as_it_was(gemma, tuning, lora, tmp_path):
    back = tmp_path / "back" / "tuning.safetensors"
    import_peft(lora, located(str(gemma)), back)
    first, second = load_file(tuning), load_file(back)
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        if "k_proj" not in name:
            assert torch.equal(tensor, second[name]), name
    one, other = (tunable_layers(load_toy(gemma, path).model) for path in (tuning, back))
    assert all(torch.equal(one[name][0].weight, other[name][0].weight) for name in one)


def test_a_lora_of_the_encoder_is_refused(gemma: Path, lora: Path, tmp_path: Path) -> None:
    """It would change the encoder apart from the decoder: the weights are shared here."""
    tensors = load_file(lora / TENSORS)
    name = next(iter(tensors))
    encoder = name.replace("model.decoder", "model.encoder.language_model")
    save_file(tensors | {encoder: tensors[name].clone()}, lora / TENSORS)
    with pytest.raises(ModelError, match="a tuning cannot change here"):
        import_peft(lora, located(str(gemma)), tmp_path / "back.safetensors")


def test_the_merged_folder_has_the_tuned_weights(gemma: Path, tuning: Path, tmp_path: Path) -> None:
    out = tmp_path / "merged"
    export_hugging_face(located(f"{gemma}+{tuning}"), out)
    merged, ours = load_toy(out).model.state_dict(), load_toy(gemma, tuning).model.state_dict()
    assert merged.keys() == ours.keys()
    assert all(torch.equal(merged[name], tensor) for name, tensor in ours.items())
    assert (out / "generation_config.json").is_file()
    assert (out / "tokenizer.json").read_bytes() == (gemma / "tokenizer.json").read_bytes()


Q_DOWN = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"


@pytest.fixture
def saved_lora(toy: Path, tmp_path: Path) -> Path:
    return save_lora(tmp_path / "saved_lora", toy)


def refusal(saved_lora: Path, toy: Path) -> str:
    out = saved_lora.parent / "tuning.safetensors"
    before = sorted(saved_lora.parent.iterdir())
    with pytest.raises(ModelError) as caught:
        import_peft(saved_lora, located(str(toy)), out)
    assert sorted(saved_lora.parent.iterdir()) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def change_config(saved_lora: Path, **changes: Any) -> None:
    path = saved_lora / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def change_tensors(saved_lora: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = load_file(saved_lora / TENSORS)
    change(tensors)
    save_file(tensors, saved_lora / TENSORS)


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
def test_a_config_that_is_no_plain_lora(saved_lora, toy, changes, said):
    change_config(saved_lora, **changes)
    assert said in refusal(saved_lora, toy)


@pytest.mark.parametrize("value", [None, False, [], {}, ""])
def test_an_unknown_option_that_is_switched_off_is_ignored(saved_lora, toy, value, tmp_path):
    change_config(saved_lora, something_new=value)
    assert import_peft(saved_lora, located(str(toy)), tmp_path / "t.safetensors").num_modules == 21


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
def test_a_damaged_config(saved_lora: Path, toy: Path, text: str, said: str) -> None:
    (saved_lora / "adapter_config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert said in refusal(saved_lora, toy)


def test_a_folder_without_a_lora_or_with_one_cut_off_or_pickled(saved_lora, toy, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "has no adapter_config.json" in refusal(tmp_path / "empty", toy)
    assert "has no adapter_config.json" in refusal(tmp_path / "missing", toy)
    (saved_lora / TENSORS).write_bytes((saved_lora / TENSORS).read_bytes()[:-9])
    assert "is damaged (" in refusal(saved_lora, toy)
    (saved_lora / TENSORS).unlink()
    assert f"has no {TENSORS}" in refusal(saved_lora, toy)
    (saved_lora / "adapter_model.bin").write_bytes(b"not even a pickle")
    assert "only as a pickle (adapter_model.bin)" in refusal(saved_lora, toy)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
def test_a_config_that_is_a_pipe_or_a_device_is_not_waited_for(saved_lora: Path, toy: Path) -> None:
    config = saved_lora / "adapter_config.json"
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        config.unlink()
        make(config)
        assert "it is no regular file" in refusal(saved_lora, toy)


def test_numbers_too_large_to_compute_with(saved_lora: Path, toy: Path) -> None:
    change_config(saved_lora, lora_alpha=1e300)
    assert "too large to compute with" in refusal(saved_lora, toy)
    change_config(saved_lora, lora_alpha=16)
    change_tensors(saved_lora, lambda them: [them[name].fill_(3e38) for name in them])
    assert "too large to compute with" in refusal(saved_lora, toy)


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
def test_tensors_that_do_not_fit(saved_lora, toy, change, said):
    change_tensors(saved_lora, change)
    assert said in refusal(saved_lora, toy)


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
    assert said in refusal(save_lora(tmp_path / "saved_lora", toy, **options), toy)


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


def test_nothing_is_overwritten(saved_lora: Path, toy: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken.safetensors"
    taken.write_text("mine")
    with pytest.raises(OutputError, match="exists: remove it"):
        import_peft(saved_lora, located(str(toy)), taken)
    tuning = save_tuning(tmp_path / "tuning.safetensors", toy)
    with pytest.raises(OutputError, match="exists: remove it"):
        export_peft(located(str(toy)), [tuning], saved_lora, base_model="toy")
    with pytest.raises(OutputError, match="cannot write"):
        export_peft(located(str(toy)), [tuning], taken / "below", base_model="toy")
    assert taken.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.glob(".*")) == []
