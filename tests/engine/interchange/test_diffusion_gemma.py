"""DiffusionGemma's tunings, on a tiny random checkpoint: the decoder's LoRA, and merged weights."""

from pathlib import Path

import peft
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_diffusion_gemma import load_toy, save_toy_checkpoint
from toy_causal import located

from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.load import tunable_layers
from intarsia.engine.interchange.export_hugging_face import export_hugging_face
from intarsia.engine.interchange.peft import export_peft, import_peft

TENSORS = "adapter_model.safetensors"


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy_checkpoint(tmp_path_factory.mktemp("toy-gemma"))


@pytest.fixture
def tuning(toy: Path, tmp_path: Path) -> Path:
    """A random tuning that leaves one kind of module as it is."""
    random = torch.Generator().manual_seed(0)
    tensors = {}
    for name, (linear, *_) in tunable_layers(load_toy(toy).model).items():
        strength = 0.0 if name.endswith("k_proj") else 0.1
        up = torch.randn(linear.out_features, 3, generator=random) * strength
        down = torch.randn(3, linear.in_features, generator=random) * 0.1
        tensors |= {f"A.{name}": down.bfloat16(), f"B.{name}": up.bfloat16()}
    path = tmp_path / "tuned" / "tuning.safetensors"
    path.parent.mkdir()
    save_file(tensors, path)
    return path


@pytest.fixture
def lora(toy: Path, tuning: Path, tmp_path: Path) -> Path:
    written = export_peft(located(str(toy)), [tuning], tmp_path / "lora", base_model="gemma")
    assert (written.rank, written.num_modules) == (3, 17)
    return tmp_path / "lora"


def test_the_lora_is_the_decoders(lora: Path) -> None:
    names = load_file(lora / TENSORS).keys()
    assert "base_model.model.model.decoder.layers.0.self_attn.q_proj.lora_A.weight" in names
    assert all(name.startswith("base_model.model.model.decoder.layers.") for name in names)
    assert not [name for name in names if "k_proj" in name], "it is not changed anywhere"


def test_merged_by_peft_it_gives_the_weights_of_ours(toy: Path, tuning: Path, lora: Path) -> None:
    """Encoder and decoder share weights, so a merged LoRA changes both, as ours does."""
    ours = tunable_layers(load_toy(toy, tuning).model)
    merged = peft.PeftModel.from_pretrained(load_toy(toy).model, lora).merge_and_unload()
    theirs, before = tunable_layers(merged), tunable_layers(load_toy(toy).model)
    assert theirs.keys() == ours.keys()
    for name, twins in theirs.items():
        for twin, own, plain in zip(twins, ours[name], before[name], strict=True):
            torch.testing.assert_close(twin.weight, own.weight)
            assert torch.equal(own.weight, plain.weight) == name.endswith("k_proj")


def test_a_tuning_comes_back_as_it_was(toy: Path, tuning: Path, lora: Path, tmp_path: Path) -> None:
    back = tmp_path / "back" / "tuning.safetensors"
    import_peft(lora, located(str(toy)), back)
    first, second = load_file(tuning), load_file(back)
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        if "k_proj" not in name:
            assert torch.equal(tensor, second[name]), name
    one, other = (tunable_layers(load_toy(toy, path).model) for path in (tuning, back))
    assert all(torch.equal(one[name][0].weight, other[name][0].weight) for name in one)


def test_a_lora_of_the_encoder_is_refused(toy: Path, lora: Path, tmp_path: Path) -> None:
    """It would change the encoder apart from the decoder: the weights are shared here."""
    tensors = load_file(lora / TENSORS)
    name = next(iter(tensors))
    encoder = name.replace("model.decoder", "model.encoder.language_model")
    save_file(tensors | {encoder: tensors[name].clone()}, lora / TENSORS)
    with pytest.raises(ModelError, match="a tuning cannot change here"):
        import_peft(lora, located(str(toy)), tmp_path / "back.safetensors")


def test_the_merged_folder_has_the_tuned_weights(toy: Path, tuning: Path, tmp_path: Path) -> None:
    out = tmp_path / "merged"
    export_hugging_face(located(f"{toy}+{tuning}"), out)
    merged, ours = load_toy(out).model.state_dict(), load_toy(toy, tuning).model.state_dict()
    assert merged.keys() == ours.keys()
    assert all(torch.equal(merged[name], tensor) for name, tensor in ours.items())
    assert (out / "generation_config.json").is_file()
    assert (out / "tokenizer.json").read_bytes() == (toy / "tokenizer.json").read_bytes()
