"""A training pass computes what a fill computes; a tuning of a corpus, and an adapter after it."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from toy_causal import KINDS, Kind, save_toy, toy_causal_model, toy_context, toy_text
from toy_training import toy_batched, toy_holes, toy_parts, train_toy

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.adapter import read_adapter, tune
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import (
    FimIds,
)
from intarsia.engine.families.masked_causal.passes import SpeculativePasses
from intarsia.engine.families.project_text import NO_PROJECT, ProjectIds
from intarsia.training.packed_holes import HoleIds, PackedHoles
from intarsia.training.tuning_task import TuningTaskOptions, save_tensors
from intarsia_research.training.adapted_backbone import AdaptedBackbone
from intarsia_research.training.canvas_batch import CanvasBatch, CanvasMix, draw_batch
from intarsia_research.training.canvas_task import CanvasTask, CanvasTaskOptions
from intarsia_research.training.low_rank_task import CorpusTuningTask
from intarsia_research.training.trainable_adapter import TrainableAdapter

MIX = CanvasMix(num_canvases=12, max_prefix=24, max_suffix=12, max_middle=24, length=6)


def toy_adapted(folder: Path) -> AdaptedBackbone:
    """Return the folder's model as the training of an adapter runs it, in float32."""
    return AdaptedBackbone.of(toy_batched(folder))


def toy_canvas_task(
    folder: Path, holes: PackedHoles, *, rank: int = 8, tuning: Path | None = None
) -> CanvasTask:
    """Return the task of a gated adapter, on a tuned backbone where a tuning is named."""
    backbone, *others = toy_parts(folder, holes)
    if tuning is not None:
        backbone.weights = tune(backbone.weights, backbone.shape, tuning)
    options = CanvasTaskOptions(rank=rank, seed=0, mix=MIX)
    return CanvasTask(AdaptedBackbone.of(backbone), *others, options)


def toy_tuning_task(folder: Path, holes: PackedHoles, *, strength: float = 1.0) -> CorpusTuningTask:
    options = TuningTaskOptions(rank=8, seed=0)
    return CorpusTuningTask(*toy_parts(folder, holes), options, strength=strength)


@pytest.fixture(scope="module")
def tuning(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuning")
    holes = toy_holes(toy, folder / "holes.safetensors", num_holes=256)
    train_toy(toy_tuning_task(toy, holes), holes, folder, tokens=3_000, peak_rate=1e-2)
    return folder / "adapter.safetensors"


@torch.inference_mode()
def test_weights_with_a_tuning_say_what_the_tuning_said_while_it_was_trained(
    toy: Path, holes: PackedHoles, tuning: Path
) -> None:
    backbone, task = toy_adapted(toy), toy_tuning_task(toy, holes)
    task.start_from(tuning)
    ids = torch.arange(20, 50)[None]
    expected = backbone.forward_tuned(ids, task.module.as_layers(torch.float32))
    backbone.weights = tune(backbone.weights, backbone.shape, tuning)
    torch.testing.assert_close(backbone.prefill(ids).hidden, expected, atol=1e-3, rtol=1e-3)


def test_a_weaker_tuning_is_between_its_start_and_what_was_learnt(
    toy: Path, holes: PackedHoles, tuning: Path, tmp_path: Path
) -> None:
    task = toy_tuning_task(toy, holes, strength=0.25)
    task.start_from(tuning)
    with torch.no_grad():
        for tensor in task.module.parameters():
            tensor.add_(1)
    task.save(tmp_path / "weaker.safetensors", metadata={})
    start, weaker = load_file(tuning), load_file(tmp_path / "weaker.safetensors")
    assert start.keys() == weaker.keys()
    for name, tensor in start.items():
        expected = tensor.float() + 0.25
        torch.testing.assert_close(weaker[name].float(), expected, atol=1e-3, rtol=1e-2)


def test_a_run_that_is_done_is_written_at_another_strength(
    toy: Path, holes: PackedHoles, tmp_path: Path
) -> None:
    def changes(strength: float) -> torch.Tensor:
        task = toy_tuning_task(toy, holes, strength=strength)
        figures = train_toy(task, holes, tmp_path, tokens=200)
        assert figures["loss"] > 0
        return load_file(tmp_path / "adapter.safetensors")["B.qkv0"].float()

    whole, half = changes(1.0), changes(0.5)
    assert whole.abs().max() > 0
    torch.testing.assert_close(half, whole / 2, atol=1e-5, rtol=1e-2)


def test_holes_with_code_of_other_files_are_figures_of_their_own(toy: Path, holes: PackedHoles):
    task = toy_tuning_task(toy, holes)
    alone = [holes[index] for index in range(6)]
    project = ProjectIds(before_mark=[*alone[0].prefix, *alone[1].prefix], in_prefix=[1])
    reading = [replace(holes[index], project=project) for index in range(6, 10)]
    unread = [replace(hole, project=NO_PROJECT) for hole in reading]

    def figures(*batches: list[HoleIds]) -> dict[str, float]:
        with torch.no_grad():
            return task.evaluate(batches, random.Random(0))

    mixed = figures([*alone[:2], *reading[:2]], [*alone[2:4], *reading[2:]], alone[4:])
    assert mixed["alone_loss"] == pytest.approx(figures(alone)["loss"], abs=1e-4)
    assert mixed["project_unread_loss"] == pytest.approx(figures(unread)["loss"], abs=1e-4)
    assert mixed["project_loss"] == pytest.approx(figures(reading)["project_loss"], abs=1e-4)
    assert abs(mixed["project_loss"] - mixed["project_unread_loss"]) > 1e-4
    parts = sorted([mixed["alone_loss"], mixed["project_loss"]])
    assert parts[0] <= mixed["loss"] <= parts[1]
    assert not [name for name in figures(alone) if "project" in name]


def numbers(task: object) -> torch.Tensor:
    module = task.module  # type: ignore[attr-defined]
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def test_canvases_learn_to_predict_what_the_backbone_predicts(
    toy: Path, holes: PackedHoles, tmp_path: Path
) -> None:
    tuning = toy_tuning_task(toy, holes)  # what random numbers predict cannot be learnt
    train_toy(tuning, holes, tmp_path / "tuning", tokens=6_000, peak_rate=1e-2)
    path = tmp_path / "tuning" / "adapter.safetensors"
    task = toy_canvas_task(toy, holes, rank=16, tuning=path)
    figures = train_toy(task, holes, tmp_path, tokens=16_000, peak_rate=5e-3)
    first = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[0])["held_out"]
    assert first["kept"] < 0.5
    assert figures["kept"] > 1.8
    assert figures["loss"] < 0.2 * first["loss"]


def test_a_run_can_start_from_the_weights_of_an_earlier_one(
    toy: Path, holes: PackedHoles, tmp_path: Path
) -> None:
    first = toy_tuning_task(toy, holes)
    train_toy(first, holes, tmp_path / "first", tokens=400, peak_rate=5e-3)
    second = toy_tuning_task(toy, holes)
    second.start_from(tmp_path / "first" / "adapter.safetensors")
    torch.testing.assert_close(numbers(second), numbers(first), atol=1e-2, rtol=1e-2)
    with pytest.raises(ModelError, match="another backbone or rank"):
        toy_canvas_task(toy, holes, rank=4).start_from(tmp_path / "first" / "adapter.safetensors")


_HOLES = [
    HoleIds(prefix=range(20, 33), middle=range(40, 49), suffix=range(60, 66), group=0),
    HoleIds(prefix=range(90, 95), middle=range(10, 14), suffix=range(70, 79), group=1),
]


def random_adapter(folder: Path, path: Path) -> Path:
    """Write an adapter with random weights, the sampler head included."""
    adapter = TrainableAdapter(toy_adapted(folder).shape, rank=4, seed=1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for number in adapter.named_tensors().values():
            number.copy_(torch.randn(number.shape, generator=generator) * 0.1)
    save_tensors(adapter.named_tensors(), path, metadata={})
    return path


def drawn(folder: Path) -> CanvasBatch:
    return draw_batch(_HOLES, MIX, toy_text(folder).mark_ids(), random.Random(3))


@pytest.mark.parametrize("kind", KINDS)
@torch.inference_mode()
def test_canvas_rows_predict_the_same_in_training_and_in_a_fill(kind: Kind, tmp_path: Path) -> None:
    folder = save_toy(tmp_path / "toy", toy_causal_model(kind))
    path = random_adapter(folder, tmp_path / "adapter.safetensors")
    backbone, batch = toy_adapted(folder), drawn(folder)
    adapter = read_adapter(path, backbone.shape, dtype=backbone.dtype, device=backbone.device)
    prefilled = backbone.prefill(batch.ids)
    hidden = backbone.forward_adapted(batch, prefilled, adapter.layers, mask=adapter.mask)
    num_compared = 0
    for hole in range(len(batch.ids)):
        for canvas in range(int(batch.row_canvases[hole].max()) + 1):
            rows = (batch.row_canvases[hole] == canvas).nonzero().flatten()
            if not bool(batch.is_draft[hole, rows].all()):
                continue
            start = int(batch.row_num_visible[hole, rows[0]])
            filling = toy_context(folder, path)
            filling.prefill(batch.ids[hole, : start - 1].tolist())
            verified = SpeculativePasses(filling).verify(
                [int(batch.ids[hole, start - 1])], [len(rows)]
            )
            expected = torch.nn.functional.linear(hidden[hole, rows], backbone.weights.output)
            torch.testing.assert_close(expected, verified.proposals[0], atol=2e-4, rtol=2e-4)
            plain = torch.nn.functional.linear(
                prefilled.hidden[hole, start - 1], backbone.weights.output
            )
            torch.testing.assert_close(plain, verified.causal[0], atol=2e-4, rtol=2e-4)
            num_compared += 1
    assert num_compared > 8


@torch.inference_mode()
def test_the_sampler_head_predicts_the_same_in_training_and_in_a_fill(toy: Path, tmp_path: Path):
    path = random_adapter(toy, tmp_path / "adapter.safetensors")
    backbone, batch = toy_adapted(toy), drawn(toy)
    adapter = read_adapter(path, backbone.shape, dtype=backbone.dtype, device=backbone.device)
    assert adapter.head is not None
    filling = toy_context(toy, path)
    context = batch.ids[0, :20].tolist()
    filling.prefill(context[:-1])
    verified = SpeculativePasses(filling).verify([context[-1]], [3])
    assert verified.sample_serially is not None
    predicted = int(verified.causal[0].argmax())
    tokens = verified.sample_serially(0, predicted)
    assert len(tokens) == 3
    hidden = _proposal_hidden(toy, path, context, 3)
    before = [predicted, *(token.id for token in tokens[:-1])]
    own = backbone.weights.embed[torch.tensor(before)]
    logits = torch.nn.functional.linear(adapter.head(hidden, own), backbone.weights.output)
    for row, token in zip(range(3), tokens, strict=True):
        likeliest = verified.proposals[0][row].topk(32).indices
        assert token.id == int(likeliest[logits[row, likeliest].argmax()])
        assert 0 < token.confidence <= 1


def _proposal_hidden(folder: Path, adapter: Path, context: list[int], num: int) -> torch.Tensor:
    backbone = toy_adapted(folder)
    gated = read_adapter(adapter, backbone.shape, dtype=backbone.dtype, device=backbone.device)
    positions = torch.arange(len(context), len(context) + num)[None]
    nothing = torch.zeros(1, num)
    batch = CanvasBatch(
        ids=torch.tensor([context]),
        row_ids=torch.full((1, num), backbone.mask_id),
        row_positions=positions,
        row_canvases=torch.zeros(1, num, dtype=torch.long),
        row_num_visible=torch.full((1, num), len(context)),
        row_depths=positions - len(context),
        targets=positions,
        weights=nothing,
        is_draft=nothing > 0,
        has_teacher=nothing > 0,
    )
    return backbone.forward_adapted(
        batch, backbone.prefill(batch.ids), gated.layers, mask=gated.mask
    )[0]


_FIM = FimIds(before_prefix=1, before_suffix=2, before_middle=3, mask=4, end=5)
_IDS = st.lists(st.integers(10, 99), min_size=1, max_size=40)
_GIVEN = st.lists(st.integers(10, 99), max_size=20)


@settings(max_examples=60)
@given(
    st.lists(
        st.builds(HoleIds, prefix=_IDS, given=_GIVEN, middle=_IDS, suffix=_IDS, group=st.just(0)),
        min_size=1,
        max_size=3,
    ),
    st.integers(0, 10_000),
)
def test_every_row_predicts_the_token_after_it(holes: list[HoleIds], seed: int) -> None:
    batch = draw_batch(holes, MIX, _FIM, random.Random(seed))
    for number in range(len(holes)):
        text = batch.ids[number].tolist()
        for row in range(batch.row_ids.shape[1]):
            if batch.row_canvases[number, row] < 0:
                assert batch.weights[number, row] == 0
                continue
            at, start = batch.row_positions[number, row], batch.row_num_visible[number, row]
            assert at >= start, "a canvas comes after the text it sees"
            assert text[start - 1] not in (_FIM.before_prefix, _FIM.before_suffix)
            if at == start:
                assert batch.row_ids[number, row] == _FIM.mask, "its first row is masked"
            if batch.has_teacher[number, row]:
                target = batch.targets[number, row]
                assert target in (-1, text[at + 1])
                assert batch.row_ids[number, row] in (_FIM.mask, text[at])


def test_a_hole_that_is_cut_teaches_no_end() -> None:
    long = HoleIds(prefix=[10], middle=[20] * 100, suffix=[30], group=0)
    batch = draw_batch([long], MIX, _FIM, random.Random(0))
    assert not bool(((batch.targets == _FIM.end) & (batch.weights > 0)).any())


def test_where_a_hole_ends_weighs_more() -> None:
    hole = HoleIds(prefix=[10], middle=[20] * 8, suffix=[30], group=0)
    batch = draw_batch([hole], MIX, _FIM, random.Random(0))
    is_end = (batch.targets == _FIM.end) & batch.has_teacher & (batch.row_depths == 0)
    is_other = (batch.targets == 20) & (batch.row_depths == 0)
    assert bool(is_end.any())
    assert batch.weights[is_end].min() > batch.weights[is_other].max()


def test_given_text_comes_between_context_and_hole() -> None:
    hole = HoleIds(prefix=[10], given=[40, 41], middle=[20, 21], suffix=[30], group=0)
    batch = draw_batch([hole], MIX, _FIM, random.Random(0))
    assert batch.ids[0].tolist() == [1, 10, 2, 30, 3, 40, 41, 20, 21, 5]
