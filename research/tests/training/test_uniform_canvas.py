"""A tuning of DiffusionGemma: what is drawn for it, what it learns from, and its weights."""

import random
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from tiny_diffusion_gemma import load_toy, save_toy_checkpoint

from intarsia.engine.config import EngineConfig
from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes, lay_out
from intarsia.engine.families.diffusion_gemma.load import LoadedGemma
from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone
from intarsia.engine.filler import Filler
from intarsia.engine.service.load_filler import load_filler
from intarsia_research.training.packed_holes import HoleIds, PackedHoles, pack
from intarsia_research.training.uniform_backbone import UniformBackbone
from intarsia_research.training.uniform_canvas import (
    CanvasRules,
    CleanCanvas,
    UniformBatch,
    UniformMix,
    batch_of,
    draw_canvas,
    noised,
)
from intarsia_research.training.uniform_task import UniformTask

FEW_FREE = UniformMix(max_free=4)


def toy_letter_holes(toy: LoadedGemma, path: Path) -> PackedHoles:
    """Pack a hole for every pair of letters; each comes from a source of its own."""
    lines = [(f"={a}", f"{a}+{b}", f"{b};\n") for a in "kqvz" for b in "kqvz"]
    ids = (
        HoleIds(
            prefix=toy.text.context(prefix, ""),
            middle=toy.text.encode(hole),
            suffix=toy.text.encode(suffix),
            group=number,
        )
        for number, (prefix, hole, suffix) in enumerate(lines)
    )
    return pack(ids, path, metadata={})


def toy_uniform_task(toy: LoadedGemma, *, rank: int = 16) -> UniformTask:
    return UniformTask(toy.model, toy.text.special, rank=rank, seed=0, mix=FEW_FREE)


END, PAD = 1, 0
RULES = CanvasRules(
    sizes=CanvasSizes(canvas_length=32), end_id=END, pad_id=PAD, vocab_size=1_000_000
)
MIX = UniformMix(max_free=16)
EXACT = UniformMix(max_free=16, share_exact=1.0, share_longer=0.0)


def hole(num_given: int = 0, num_middle: int = 3, num_suffix: int = 20) -> HoleIds:
    return HoleIds(
        prefix=[2, 50, 51],
        given=range(100, 100 + num_given),
        middle=range(200, 200 + num_middle),
        suffix=range(300, 300 + num_suffix),
        group=0,
    )


def drawn(ids: HoleIds, mix: UniformMix = MIX, *, seed: int = 0) -> CleanCanvas:
    return draw_canvas(ids, mix, RULES, random.Random(seed))


def test_behind_the_hole_stand_an_end_and_padding_as_the_filler_reads_them() -> None:
    shortest = UniformMix(max_free=16, share_exact=0.0, share_longer=0.0)
    canvas = drawn(hole(num_given=1, num_middle=5), shortest)
    assert canvas.ids == (100, 200, 201, 202, 203, 204, END, PAD, PAD, *range(300, 307))
    assert (canvas.start, canvas.end, canvas.num_needed) == (1, 9, 6)
    assert canvas.context == (2, 50, 51)


def test_a_canvas_of_the_holes_own_length_has_no_end() -> None:
    canvas = drawn(hole(num_middle=3), EXACT)
    assert canvas.ids[: canvas.end] == (200, 201, 202)
    assert canvas.num_needed == 3


def test_given_text_that_the_canvas_cannot_show_is_context() -> None:
    canvas = drawn(hole(num_given=6), EXACT)
    assert canvas.context == (2, 50, 51, 100, 101)
    assert canvas.ids[:4] == (102, 103, 104, 105)


def test_a_hole_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="17 tokens, at most 16"):
        drawn(hole(num_middle=17))


@settings(max_examples=100)
@given(
    num_given=st.integers(0, 9),
    num_middle=st.integers(1, 16),
    num_suffix=st.integers(0, 30),
    canvas_length=st.integers(8, 40),
    seed=st.integers(0, 999),
)
def test_every_canvas_is_one_that_a_fill_lays_out(
    num_given, num_middle, num_suffix, canvas_length, seed
):
    ids = hole(num_given, num_middle, num_suffix)
    rules = CanvasRules(
        sizes=CanvasSizes(canvas_length=canvas_length), end_id=END, pad_id=PAD, vocab_size=999
    )
    canvas = draw_canvas(ids, MIX, rules, random.Random(seed))
    num_early = max(num_given - rules.sizes.max_given, 0)
    laid_out = [
        place
        for num_free in range(num_middle, 17)
        for place in lay_out(
            ids.given[num_early:], num_free, ids.suffix, sizes=rules.sizes, end_id=END, pad_id=PAD
        )
    ]
    hidden = tuple(
        None if canvas.start <= place < canvas.end else token
        for place, token in enumerate(canvas.ids)
    )
    assert hidden in [place.ids for place in laid_out]
    text = (*canvas.context, *canvas.ids[: canvas.start + canvas.num_needed])
    whole = (*ids.prefix, *ids.given, *ids.middle, END)
    assert text == whole[: len(text)], "up to the end, context and canvas are the file's text"
    rest = canvas.ids[canvas.start + canvas.num_needed : canvas.end]
    assert set(rest) <= {PAD}


def test_noise_falls_on_the_hole_alone_and_as_often_as_it_should() -> None:
    ids = hole(num_given=2, num_middle=16, num_suffix=5)
    canvas, chosen = drawn(ids, EXACT), random.Random(0)
    for noise in (0.001, 0.25, 0.5, 1.0):
        num_changed = 0
        for _ in range(200):
            noisy = noised(canvas, noise, RULES, chosen)
            assert noisy[: canvas.start] == canvas.ids[: canvas.start]
            assert noisy[canvas.end :] == canvas.ids[canvas.end :]
            num_changed += sum(a != b for a, b in zip(noisy, canvas.ids, strict=True))
        share = num_changed / (200 * 16)
        assert abs(share - noise) < 0.03, f"{share} of the tokens, not {noise}"


def test_the_lengths_that_a_fill_would_try_are_all_drawn() -> None:
    lengths = {
        canvas.end - canvas.start
        for canvas in (drawn(hole(num_middle=3), seed=seed) for seed in range(60))
    }
    assert lengths == {3, 4, 8}


def test_a_batch_marks_the_hole_and_pads_the_rest() -> None:
    canvases = [drawn(hole(num_given=1), EXACT), drawn(hole(num_middle=9, num_suffix=2), EXACT)]
    noisy = [noised(canvas, 1.0, RULES, random.Random(0)) for canvas in canvases]
    batch = batch_of(canvases, noisy, pad_id=PAD)
    for number, canvas in enumerate(canvases):
        length = len(canvas.ids)
        assert int(batch.num_ids[number]) == length
        assert batch.clean[number, :length].tolist() == list(canvas.ids)
        assert batch.noisy[number, :length].tolist() == list(noisy[number])
        places = batch.is_hole[number].nonzero().flatten().tolist()
        assert places == list(range(canvas.start, canvas.end))
        assert batch.context[number, : len(canvas.context)].tolist() == list(canvas.context)
        assert not batch.is_hole[number, length:].any()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy_checkpoint(tmp_path_factory.mktemp("toy-gemma"))


@pytest.fixture
def toy(folder: Path) -> LoadedGemma:
    return load_toy(folder)


@pytest.fixture(scope="module")
def holes(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> PackedHoles:
    path = tmp_path_factory.mktemp("letters") / "holes.safetensors"
    return toy_letter_holes(load_toy(folder), path)


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
    task.compute_loss(some, random.Random(0)).loss.backward()
    assert all(it.grad is None for it in toy.model.parameters())
    names = task.module.named_tensors()
    assert len(names) == 2 * (3 * 7 - 1), "a layer that sees the whole context has no values"
    for name, number in names.items():
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
def test_weights_with_a_tuning_say_what_the_tuning_said_while_it_was_trained(folder, tmp_path):
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
def test_a_tuning_of_another_model_is_refused(toy, folder, tmp_path, change, message):
    path = random_tuning(toy_uniform_task(toy, rank=4), tmp_path / "tuning.safetensors")
    numbers = load_file(path)
    change(numbers)
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
