"""A causal backbone as a uniform-state model: canvases, rows, and the engine's loop over many."""

import random
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from toy_training import toy_batched, toy_holes, toy_parts, train_toy

from intarsia.engine.diffusion.candidate_lengths import candidate_lengths
from intarsia.engine.diffusion.canvas import random_canvas
from intarsia.engine.diffusion.denoise import Denoised, denoise
from intarsia.engine.diffusion.policies import ConstantTemperature, uniform_state_policy
from intarsia.engine.diffusion.prediction import take_likeliest
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
from intarsia_research.uniform_study.arms import LEFT_TO_RIGHT, PUBLISHED, Arm
from intarsia_research.uniform_study.encoded_cases import EncodedCase
from intarsia_research.uniform_study.fill_cases import CaseFiller, CaseIds, Marks, StartIds
from intarsia_research.uniform_study.fill_file import fill_encoded
from intarsia_research.uniform_study.judged_answers import read_answers, write_answers

END, PAD = 2, 3
JUDGED = replace(PUBLISHED, name="judged", num_lengths=2, num_seeds=2)
FREE = Arm(name="free", length="free", free_length=8, is_greedy=True, max_steps=6)


@pytest.fixture(scope="module")
def backbone(toy) -> UniformCausalBackbone:
    """In float64: with random weights, every step enlarges what rounding changed."""
    plain = toy_batched(toy)
    return UniformCausalBackbone(plain.shape, in_float64(plain.weights))


def in_float64(weights: BackboneWeights) -> BackboneWeights:
    layers = tuple(
        replace(
            layer,
            **{
                f.name: t.double()
                for f in fields(layer)
                if (t := getattr(layer, f.name)) is not None
            },
        )
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
    read = UniformChanges.read(tmp_path / "run" / "weights.safetensors", backbone.shape)
    cases = [CaseIds(name="a", context=[5, 9, 30], suffix=[8, 9], truth=[4, 5])]
    marks = Marks(end=fim.end, pad=PAD)
    written = [
        CaseFiller(backbone, changes, marks, num_pinned=2).fill(cases, FREE)[0].ids
        for changes in (task.module, read)
    ]
    assert written[0] == written[1]


def alone(backbone, changes, case: CaseIds, arm: Arm) -> Denoised:
    """Denoise one free canvas by the engine's own loop."""
    read = backbone.prefill([case.context[:-1]])
    vocab_size = backbone.shape.vocab_size

    def predict(canvas, self_conditioning):
        ids = [canvas.ids.tolist()]
        predicted = None
        if self_conditioning is not None and arm.is_conditioned:
            predicted = backbone.mean_of(self_conditioning.softmax(-1))
            predicted = torch.cat([torch.zeros_like(predicted[:1]), predicted])[None]
        rows = rows_of(backbone, [case.context], [ids])
        logits = backbone.logits(backbone.forward_rows(rows, read, changes, predicted))[0, :-1]
        if case.start is not None:
            logits[0, : STARTS[0].ids[0]] = logits[0, STARTS[0].ids[-1] + 1 :] = -torch.inf
        return logits

    generator = torch.Generator().manual_seed(0)
    policy = uniform_state_policy(
        vocab_size=vocab_size, max_steps=arm.max_steps, entropy_bound=arm.entropy_bound
    )
    if arm.is_greedy:
        policy = replace(policy, sample=take_likeliest, temperature=ConstantTemperature())
    suffix = case.suffix if arm.length == "oracle" else []
    length = len(case.truth) if arm.length == "oracle" else arm.free_length
    canvas = random_canvas([*[None] * length, *suffix], vocab_size=vocab_size, generator=generator)
    return denoise(predict, canvas, policy, generator=generator)


STARTS = [StartIds(ids=[60, 61], then={60: 1, 61: 1}), StartIds(ids=[70], then={})]


def cases_of(num: int) -> list[CaseIds]:
    rng = random.Random(4)
    return [
        CaseIds(
            name=str(n),
            context=[rng.randrange(5, 90) for _ in range(3 + 2 * n)],
            suffix=[rng.randrange(5, 90) for _ in range(min(n, 3))],
            truth=[rng.randrange(5, 90) for _ in range(n + 1)],
        )
        for n in range(num)
    ]


@pytest.mark.parametrize(
    "arm",
    [
        FREE,
        replace(FREE, is_greedy=False, entropy_bound=2.0),
        replace(FREE, is_conditioned=False),
        replace(FREE, length="oracle", entropy_bound=9.0),
    ],
    ids=["greedy", "drawn", "unconditioned", "pinned"],
)
@torch.inference_mode()
def test_many_canvases_end_as_each_does_in_the_engines_loop(backbone, arm: Arm):
    changes, cases = changed(backbone), cases_of(4)
    filler = CaseFiller(backbone, changes, Marks(end=END, pad=PAD), num_pinned=3)
    for case, answer in zip(cases, filler.fill(cases, arm), strict=True):
        expected = alone(backbone, changes, case, arm)
        num = len(answer.ids)
        assert answer.ids == expected.ids[:num].tolist()
        assert answer.num_forwards == expected.num_forwards
        assert answer.confidences == pytest.approx(expected.confidences[:num].tolist(), abs=1e-4)
        assert answer.mean_entropy == pytest.approx(
            float(expected.entropies[:num].mean()), abs=1e-4
        )


@torch.inference_mode()
def test_a_canvas_is_done_when_it_is_stable_and_the_others_go_on(backbone):
    """A backbone whose embedding is scaled up is certain at once."""
    sure = UniformCausalBackbone(
        backbone.shape, replace(backbone.weights, output=100 * backbone.weights.output)
    )
    arm = replace(FREE, max_steps=30, entropy_bound=50.0, free_length=1)
    changes, cases = changed(backbone), cases_of(6)
    filler = CaseFiller(sure, changes, Marks(end=END, pad=PAD), num_pinned=3)
    answers = filler.fill(cases, arm)
    for case, answer in zip(cases, answers, strict=True):
        expected = alone(sure, changes, case, arm)
        assert (answer.ids, answer.num_forwards) == (expected.ids.tolist(), expected.num_forwards)
    assert min(answer.num_forwards for answer in answers) < 30
    early = filler.fill(cases, replace(arm, stop_entropy=1e9))
    assert all(a.num_forwards <= b.num_forwards for a, b in zip(early, answers, strict=True))


@pytest.mark.parametrize("arm", [LEFT_TO_RIGHT, PUBLISHED, JUDGED], ids=lambda arm: arm.name)
@torch.inference_mode()
def test_each_way_begins_as_the_half_typed_text_asks(backbone, arm: Arm):
    cases = [replace(case, start=0) for case in cases_of(3)]
    marks = Marks(end=END, pad=PAD)
    filler = CaseFiller(backbone, changed(backbone), marks, num_pinned=3, starts=STARTS)
    for case, answer in zip(cases, filler.fill(cases, replace(arm, max_steps=2)), strict=True):
        assert answer.ids[0] in (60, 61)
        if arm.length != "left_to_right":
            assert answer.ids[1] == 70
        (only,) = filler.fill([case], replace(arm, max_steps=2))
        assert (only.ids, only.num_forwards) == (answer.ids, answer.num_forwards)


@torch.inference_mode()
def test_left_to_right_writes_the_backbones_likeliest_tokens(backbone):
    case = cases_of(3)[2]
    filler = CaseFiller(backbone, changed(backbone), Marks(end=END, pad=PAD), num_pinned=3)
    (answer,) = filler.fill([case], LEFT_TO_RIGHT)
    text = list(case.context)
    for token in answer.ids[:5]:
        hidden = backbone.forward_tuned(torch.tensor([text]), [None] * backbone.shape.num_layers)
        assert int(backbone.logits(hidden[0, -1]).argmax()) == token
        text.append(token)


def test_a_draft_begins_the_canvas(backbone, monkeypatch):
    filler = CaseFiller(backbone, changed(backbone), Marks(end=END, pad=PAD), num_pinned=3)
    canvas = filler._canvas(
        CaseIds(name="a", context=[5, 9], suffix=[], truth=[11], draft=[11, 12, END]),
        5,
        torch.Generator().manual_seed(0),
        is_pinned=False,
    )
    assert canvas.ids[:3].tolist() == [11, 12, END]
    assert bool(canvas.is_free.all())


def test_a_file_of_cases_becomes_a_file_of_answers(backbone, tmp_path):
    filler = CaseFiller(backbone, changed(backbone), Marks(end=END, pad=PAD), num_pinned=3)
    encoded = [
        EncodedCase(set="some", case=one.name, context=list(one.context), truth=list(one.truth))
        for one in cases_of(3)
    ] + [EncodedCase(set="some", case="none", reason="a comment")]
    arms = [FREE, replace(FREE, name="sure", entropy_bound=0.0)]
    told: list[float] = []
    answers = fill_encoded(encoded, arms, filler.fill, 2, lambda text, share: told.append(share))
    write_answers(tmp_path / "answers.gz", answers)
    read = read_answers(tmp_path / "answers.gz")
    assert read.keys() == {"free", "sure"}
    assert told == sorted(told) and len(told) == 4
    for arm in arms:
        lines = read[arm.name]
        assert lines["some", "none"][0].ids == []
        alone = filler.fill([replace(cases_of(3)[2], suffix=[])], arm)
        assert lines["some", "2"][0].ids == alone[0].ids
