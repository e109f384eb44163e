"""A tuning of DiffusionGemma: what it learns from, and the weights that it ends in."""

import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_diffusion_gemma import load_toy, save_toy_checkpoint
from toy_uniform import toy_letter_holes, toy_letters, toy_uniform_task

from intarsia.engine.config import EngineConfig
from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.backbone.model import DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.load import LoadedGemma
from intarsia.engine.filler import Filler
from intarsia.engine.service.load_filler import load_filler
from intarsia.training.packed_holes import PackedHoles
from intarsia_research.training.uniform_backbone import UniformBackbone
from intarsia_research.training.uniform_canvas import CleanCanvas, UniformBatch, batch_of
from intarsia_research.training.uniform_task import UniformTask


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy_checkpoint(tmp_path_factory.mktemp("toy-gemma"))


@pytest.fixture
def toy(folder: Path) -> LoadedGemma:
    return load_toy(folder)


@pytest.fixture(scope="module")
def holes(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> PackedHoles:
    path = tmp_path_factory.mktemp("letters") / "holes.safetensors"
    return toy_letter_holes(load_toy(folder), path, toy_letters())


def loaded(model: str) -> Filler:
    config = EngineConfig(model=model, device="cpu", dtype="float32")
    return load_filler(config, model, lambda stage, share: None)


def canvases() -> list[CleanCanvas]:
    """Two of different sizes; one context is longer than the sliding window."""
    return [
        CleanCanvas(
            context=(2, *range(70, 90)), ids=tuple(range(90, 96)), start=1, end=4, num_needed=3
        ),
        CleanCanvas(context=(2, 60, 61), ids=tuple(range(30, 39)), start=0, end=3, num_needed=3),
    ]


def batch() -> UniformBatch:
    clean = canvases()
    return batch_of(clean, [canvas.ids[::-1] for canvas in clean], pad_id=0)


@torch.inference_mode()
def test_a_batch_predicts_the_same_in_training_and_in_a_fill(toy: LoadedGemma) -> None:
    training, filling = UniformBackbone(toy.model), DiffusionGemmaBackbone(toy.model)
    seen = torch.randn(2, 9, training.vocab_size, generator=torch.Generator().manual_seed(0))
    is_conditioned = torch.tensor([True, False])
    several = batch()
    hidden = training.forward(several, training.prefill(several), seen, is_conditioned)
    for number, canvas in enumerate(canvases()):
        ids = torch.tensor(canvas.ids[::-1])
        nothing = torch.zeros_like(ids, dtype=torch.bool)
        alone = TokenCanvas(ids=ids, is_fixed=nothing, is_accepted=nothing)
        filling.prefill(canvas.context)
        own = seen[number, : len(ids)] if is_conditioned[number] else None
        expected = filling.predict(alone, own)
        said = training.logits(hidden[number, : len(ids)])
        torch.testing.assert_close(said, expected, atol=1e-4, rtol=1e-4)


def test_gradients_reach_the_tuning_alone_and_all_of_it(toy: LoadedGemma, holes: PackedHoles):
    task = toy_uniform_task(toy)
    some = [holes[number] for number in range(8)]
    task.compute_loss(some, random.Random(0)).loss.backward()  # type: ignore[no-untyped-call]
    assert all(it.grad is None for it in toy.model.parameters())
    names = task.module.named_tensors()
    assert len(names) == 2 * (3 * 7 - 1), "a layer that sees the whole context has no values"
    for name, number in names.items():
        assert number.grad is not None, name
        assert bool(number.grad.any()) == name.startswith("B."), (
            f"{name}: A has no gradient while B is zero"
        )


def test_the_loss_is_on_the_hole_alone(toy: LoadedGemma, holes: PackedHoles) -> None:
    task = toy_uniform_task(toy)
    some = [holes[number] for number in range(4)]
    learnt = task.compute_loss(some, random.Random(3))
    drawn = task._draw(some, random.Random(3))
    assert learnt.num_tokens == sum(canvas.end - canvas.start for canvas in drawn)


def test_the_same_chance_gives_the_same_loss_and_figures(toy: LoadedGemma, holes: PackedHoles):
    task = toy_uniform_task(toy)
    some = [holes[number] for number in range(4)]
    losses = {
        float(task.compute_loss(some, random.Random(seed)).loss.detach()) for seed in (1, 1, 2)
    }
    assert len(losses) == 2
    with torch.no_grad():
        one, same = (task.evaluate([some], random.Random(0)) for _ in range(2))
    assert one == same
    assert set(one) >= {"loss", "loss_at_0.25", "accuracy_at_0.5", "accuracy_at_1.0", "whole"}


@torch.inference_mode()
def test_weights_with_a_tuning_say_what_the_tuning_said_while_it_was_trained(
    folder: Path, tmp_path: Path
) -> None:
    unmerged = load_toy(folder)
    task = toy_uniform_task(unmerged, rank=4)
    path = random_tuning(task, tmp_path / "tuning.safetensors")
    task.start_from(path)
    expected = logits_of(unmerged)
    torch.testing.assert_close(logits_of(load_toy(folder, path)), expected, atol=1e-3, rtol=1e-3)
    task.module.remove_hooks()
    plain = logits_of(unmerged)
    assert not torch.allclose(plain, expected, atol=0.1)
    torch.testing.assert_close(plain, logits_of(load_toy(folder)))


def random_tuning(task: UniformTask, path: Path) -> Path:
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for number in task.module.named_tensors().values():
            number.copy_(torch.randn(number.shape, generator=generator) * 0.1)
    task.save(path, metadata={"kind": "tuning"})
    return path


def logits_of(toy: LoadedGemma) -> torch.Tensor:
    backbone, some = UniformBackbone(toy.model), batch()
    return backbone.logits(backbone.forward(some, backbone.prefill(some), None, None))


def test_the_files_names_say_the_modules_paths(toy: LoadedGemma, tmp_path: Path) -> None:
    path = random_tuning(toy_uniform_task(toy, rank=4), tmp_path / "tuning.safetensors")
    names = set(load_file(path))
    assert {"A.decoder.layers.0.self_attn.q_proj", "B.decoder.layers.2.mlp.down_proj"} <= names
    assert not [name for name in names if "expert" in name or "router" in name]
    assert "A.decoder.layers.2.self_attn.v_proj" not in names


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda it: it.pop("A.decoder.layers.1.mlp.up_proj"), r"it lacks A\.decoder\.layers\.1"),
        (lambda it: it.update({"A.qkv0": torch.zeros(2, 3)}), r"it holds A\.qkv0"),
        (
            lambda it: it.update({"A.decoder.layers.0.self_attn.q_proj": torch.zeros(4, 31)}),
            "needed 32 in and 32 out",
        ),
    ],
)
def test_a_tuning_of_another_model_is_refused(
    toy: LoadedGemma, folder: Path, tmp_path: Path, change: object, message: str
) -> None:
    path = random_tuning(toy_uniform_task(toy, rank=4), tmp_path / "tuning.safetensors")
    numbers = load_file(path)
    change(numbers)  # type: ignore[operator]
    save_file(numbers, path)
    with pytest.raises(ModelError, match=f"of another model: .*{message}"):
        load_toy(folder, path)


def test_a_tuning_that_is_damaged_or_missing_is_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.safetensors"):
        loaded(f"{folder}+{tmp_path / 'nowhere.safetensors'}")
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(b"damaged")
    with pytest.raises(ModelError, match="is damaged"):
        loaded(f"{folder}+{damaged}")
