"""A causal backbone as a uniform-state model: canvases, rows, and the engine's loop over many."""

import random
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from toy_training import toy_batched, toy_holes, toy_parts, train_toy

from intarsia.engine.diffusion.candidate_lengths import candidate_lengths
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights
from intarsia_research.training.uniform_causal_backbone import UniformCausalBackbone, UniformChanges
from intarsia_research.training.uniform_causal_rows import (
    IGNORED,
    CausalMix,
    draw_canvas,
    lay_out_canvas,
    noised,
    stack_rows,
)
from intarsia_research.training.uniform_causal_task import UniformCausalOptions, UniformCausalTask
from intarsia_research.uniform_study.arms import ABLATION, LEFT_TO_RIGHT, PUBLISHED, Arm
from intarsia_research.uniform_study.fill_cases import CaseFiller, CaseIds, Marks, fill_all

END, PAD = 2, 3
FREE = Arm(name="free", length="free", free_length=8, is_greedy=True, max_steps=6)


@pytest.fixture(scope="module")
def backbone(toy) -> UniformCausalBackbone:
    """In float64: with random weights, every step enlarges what rounding changed."""
    plain = toy_batched(toy)
    return UniformCausalBackbone(plain.shape, in_float64(plain.weights))


def in_float64(weights: BackboneWeights) -> BackboneWeights:
    layers = tuple(
        replace(layer, **{f.name: t.double() for f in fields(layer) if (t := getattr(layer, f.name)) is not None})
        for layer in weights.layers
    )
    outer = {name: getattr(weights, name).double() for name in ("embed", "output", "norm")}
    return replace(weights, layers=layers, **outer)


def changed(backbone, seed=0) -> UniformChanges:
    changes = UniformChanges(backbone.shape, rank=4, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in changes.parameters():
            tensor.add_(0.1 * torch.randn(tensor.shape, generator=generator))
    return changes.requires_grad_(False)


def rows_of(backbone, contexts, canvases):
    """Rows without noise of one canvas a context."""
    rng = np.random.default_rng(0)
    vocab_size = backbone.shape.vocab_size
    drawn = [
        [
            noised(
                lay_out_canvas(ids, (), len(ids), end_id=END, pad_id=PAD),
                np.zeros(len(ids)),
                context[-1],
                vocab_size=vocab_size,
                rng=rng,
            )
            for ids in each
        ]
        for context, each in zip(contexts, canvases, strict=True)
    ]
    return stack_rows(drawn, [len(context) - 1 for context in contexts], weight_beyond=0.1)


@torch.inference_mode()
def test_rows_without_changes_are_the_backbones_own(backbone):
    contexts = [[5, 9, 30, 31, 7], [8, 40]]
    canvases = [[[11, 12, 13], [14]], [[15, 16, 17, 18]]]
    read = backbone.prefill([context[:-1] for context in contexts])
    found = backbone.forward_rows(rows_of(backbone, contexts, canvases), read, None)
    for h, context in enumerate(contexts):
        at = 0
        for ids in canvases[h]:
            text = torch.tensor([[*context, *ids]])
            expected = backbone.forward_tuned(text, [None] * backbone.shape.num_layers)
            own = found[h, at : at + 1 + len(ids)]
            torch.testing.assert_close(own, expected[0, len(context) - 1 :], atol=1e-4, rtol=1e-4)
            at += 1 + len(ids)


@torch.inference_mode()
def test_a_canvas_sees_all_of_itself_and_nothing_of_others(backbone):
    changes, context = changed(backbone), [5, 9, 30]
    read = backbone.prefill([context[:-1]])

    def states(*canvases):
        return backbone.forward_rows(rows_of(backbone, [context], [canvases]), read, changes)[0]

    alone = states([11, 12, 13])
    torch.testing.assert_close(states([11, 12, 13], [20, 21])[:4], alone, atol=1e-5, rtol=1e-5)
    assert (states([11, 12, 99])[0] - alone[0]).abs().max() > 1e-3


def test_canvases_have_the_lengths_of_fills_and_end_as_they_do():
    mix, rng = CausalMix(max_free=16, num_pinned=3), random.Random(3)
    seen = set()
    for _ in range(300):
        hole = list(range(100, 100 + rng.randint(1, 15)))
        canvas = draw_canvas(hole, [50, 51, 52, 53], mix, rng, end_id=END, pad_id=PAD)
        free, beyond = canvas.clean[: canvas.num_free], canvas.clean[canvas.num_free :]
        pinned = canvas.shown[canvas.num_free :]
        assert pinned in ([], [50, 51, 52])
        assert canvas.num_free in {*candidate_lengths(16), len(hole)}
        if canvas.num_free < len(hole):
            seen.add("short")
            assert [*free, *beyond] == [*hole, 50, 51, 52][: canvas.num_free + 3]
        else:
            rest = canvas.num_free - len(hole)
            assert free == [*hole, END, *[PAD] * rest][: canvas.num_free]
            assert beyond == pinned
            seen.add("exact" if not rest else "longer")
        assert canvas.num_needed == min(len(hole) + 1, canvas.num_free)
    assert seen == {"short", "exact", "longer"}


def test_only_free_tokens_become_noise_and_padding_is_ignored():
    canvas = lay_out_canvas([100, 101], [50, 51], 4, end_id=END, pad_id=PAD)
    rng = np.random.default_rng(1)
    all_noise = noised(canvas, np.ones(4), 7, vocab_size=1000, rng=rng)
    assert list(all_noise.noisy[4:]) == [50, 51]
    assert list(all_noise.noisy[:4]) != [100, 101, END, PAD]
    assert list(noised(canvas, np.zeros(4), 7, vocab_size=9, rng=rng).noisy) == canvas.shown
    rows = stack_rows([[all_noise], [all_noise, all_noise]], [3, 5], weight_beyond=0.1)
    assert rows.canvas[0].tolist() == [0] * 7 + [IGNORED] * 7
    assert rows.targets[1].tolist() == [100, 101, END, PAD, 50, 51, IGNORED] * 2
    assert rows.positions[1].tolist() == [*range(5, 12)] * 2
    assert rows.is_needed[0].tolist() == [True] * 3 + [False] * 11


def test_training_lowers_the_loss_and_its_file_denoises_the_same(toy, tmp_path):
    holes = toy_holes(toy, tmp_path / "holes.safetensors", num_holes=256)
    plain, fim, *_ = toy_parts(toy, holes)
    backbone = UniformCausalBackbone(plain.shape, plain.weights)
    options = UniformCausalOptions(rank=4)
    task = UniformCausalTask(backbone, fim, PAD, options, CausalMix(max_free=32))
    with torch.no_grad():
        before = task.evaluate([[holes[i] for i in range(40)]], random.Random(0))
    train_toy(task, holes, tmp_path / "run", tokens=30_000, peak_rate=2e-2, holes_per_pass=16)
    with torch.no_grad():
        after = task.evaluate([[holes[i] for i in range(40)]], random.Random(0))
    assert after["loss"] < 0.9 * before["loss"]
    read = UniformChanges.read(tmp_path / "run" / "weights.safetensors", backbone.shape, rank=4)
    cases = [CaseIds(name="a", context=[5, 9, 30], suffix=[8, 9], truth=[4, 5])]
    marks = Marks(end=fim.end, pad=PAD)
    written = [
        CaseFiller(backbone, changes, marks, num_pinned=2).fill(cases, FREE)[0].ids
        for changes in (task.module, read)
    ]
    assert written[0] == written[1]


@pytest.mark.parametrize("arm", [*ABLATION, FREE], ids=lambda arm: arm.name)
def test_filling_many_at_once_writes_what_each_alone_does(backbone, arm: Arm):
    rng = random.Random(4)
    cases = [
        CaseIds(
            name=str(n),
            context=[rng.randrange(5, 90) for _ in range(3 + 2 * n)],
            suffix=[rng.randrange(5, 90) for _ in range(n)],
            truth=[rng.randrange(5, 90) for _ in range(n + 1)],
            first=[60, 61] if n % 2 else None,
        )
        for n in range(4)
    ]
    filler = CaseFiller(backbone, changed(backbone), Marks(end=END, pad=PAD), num_pinned=3)
    together = fill_all(filler, cases, arm, at_once=3)
    for case, answer in zip(cases, together, strict=True):
        alone = filler.fill([case], arm)[0]
        assert answer.ids == alone.ids
        assert answer.num_forwards == alone.num_forwards > 0
        assert len(answer.ids) == len(answer.confidences)
        if case.first and arm.heals:
            assert answer.ids[0] in case.first
    if arm.length == "oracle":
        assert [len(answer.ids) for answer in together] == [1, 2, 3, 4]


def test_a_draft_begins_the_canvas_and_a_fault_of_a_pass_ends_the_fills(backbone, monkeypatch):
    filler = CaseFiller(backbone, changed(backbone), Marks(end=END, pad=PAD), num_pinned=3)
    case = CaseIds(name="a", context=[5, 9], suffix=[], truth=[11, 12], draft=[11, 12, END, PAD])
    seen = []
    plain = filler._logits

    def noted(passes, *arguments, **named):
        seen.append(passes[0].canvases[0].tolist())
        return plain(passes, *arguments, **named)

    monkeypatch.setattr(filler, "_logits", noted)
    filler.fill([case], FREE)
    assert seen[0][:4] == [11, 12, END, PAD]
    assert filler.likely_mistakes([case], [1])[0] != 12
    monkeypatch.setattr(filler, "_logits", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        filler.fill([case, case], PUBLISHED)
    assert filler is not None and LEFT_TO_RIGHT.length == "left_to_right"
