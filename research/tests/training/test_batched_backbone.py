"""A training pass computes what a fill computes."""

import random
from pathlib import Path

import pytest
import torch
from toy_causal import KINDS, Kind, save_toy, toy_causal_model, toy_context, toy_text
from toy_corpus_training import MIX, toy_adapted

from intarsia.engine.families.masked_causal.backbone.adapter import read_adapter
from intarsia.engine.families.masked_causal.passes import SpeculativePasses
from intarsia.training.low_rank_pairs import save_tensors
from intarsia.training.packed_holes import HoleIds
from intarsia_research.training.canvas_batch import CanvasBatch, draw_batch
from intarsia_research.training.trainable_adapter import TrainableAdapter

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
def test_the_sampler_head_predicts_the_same_in_training_and_in_a_fill(
    toy: Path, tmp_path: Path
) -> None:
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
