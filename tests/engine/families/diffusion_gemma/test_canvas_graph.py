"""Recorded passes against ordinary ones, on a card and with a recorder that needs none."""

import copy
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from cancel_when import cancelling
from one_thread import DEVICES, ON_CARD
from tiny_diffusion_gemma import CODE, save_tiny_checkpoint
from torch import Tensor

from intarsia.engine.diffusion.canvas import random_canvas
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.diffusion_gemma.canvas_graph import CanvasGraph, Pass, record_on_card
from intarsia.engine.families.diffusion_gemma.filler import DiffusionGemmaFiller
from intarsia.engine.families.diffusion_gemma.load import load_diffusion_gemma
from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Fill, Filled

PREFIX, SUFFIX = CODE.split("first + second")


class Recorder:
    """Records as a card does: what the model held then is read at each replay."""

    def __init__(self, backbone: DiffusionGemmaBackbone) -> None:
        self.backbone, self.num_replays, self.is_used = backbone, 0, True

    def __call__(self, run: Pass, ids: Tensor, logits: Tensor) -> Pass:
        held, shape = copy.copy(self.backbone), ids.shape

        def replay(ids: Tensor, logits: Tensor) -> Tensor:
            assert ids.shape == shape
            self.num_replays += 1
            return held.predict_many(ids, logits)

        return replay


@pytest.fixture(
    params=["none", *(pytest.param(f"card-{it}", marks=ON_CARD) for it in ("none", "fp8", "int4"))]
)
def pair(request, tmp_path: Path, monkeypatch) -> Any:
    """A filler whose passes are recorded, and what counts replays; and one that makes each.

    The toy's rows are too short for the four-bit kernel: what replaces it waits for the card, so
    that nothing can be recorded.
    """
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path / "cache"))
    is_card, kind = request.param.startswith("card"), request.param.removeprefix("card-")
    form = {"dtype": torch.bfloat16 if is_card else torch.float32, "quantize": kind}
    device, folder = "cuda" if is_card else "cpu", save_tiny_checkpoint(tmp_path)
    load = partial(load_diffusion_gemma, folder, device=device, name="tiny", **form)
    plain, recorded = load(), load()
    plain._backbone._graph = None
    recorder = Recorder(recorded._backbone)
    if is_card:
        replay = torch.cuda.CUDAGraph.replay

        def counted(graph: torch.cuda.CUDAGraph) -> None:
            recorder.num_replays += 1
            replay(graph)

        monkeypatch.setattr(torch.cuda.CUDAGraph, "replay", counted)
    else:
        recorded._backbone.use_graphs(recorder)
    recorder.is_used = kind != "int4"
    note = "passes: as CUDA graphs" if recorder.is_used else "no CUDA graphs: "
    assert recorded.info.notes[-1].startswith(note)
    yield recorded, recorder, plain
    assert recorded.info.notes[-1].startswith(note)
    assert recorded.info.notes[:-1] == plain.info.notes


def passes(backbone: DiffusionGemmaBackbone) -> Iterator[Tensor]:
    """Make passes after contexts that grow, shrink, stay and are put aside meanwhile."""
    random = torch.Generator(backbone.device).manual_seed(0)

    def one(length: int) -> Tensor:
        size = backbone.vocab_size
        canvas = random_canvas([None] * length, vocab_size=size, generator=random)
        logits = torch.randn(length, size, generator=random, device=backbone.device)
        return backbone.predict(canvas, 4 * logits)

    for num_tokens in (12, 30, 30, 29, 5, 30):
        backbone.prefill(range(4, 4 + num_tokens))
        yield from (one(length) for length in (8, 8, 8, 9, 9, 9, 8))
        with backbone.suspended():
            backbone.prefill([9] * num_tokens)
            yield from (one(8) for _ in range(3))
        yield from (one(8) for _ in range(3))


def test_a_recorded_pass_is_an_ordinary_one(pair: Any) -> None:
    recorded, recorder, plain = pair
    before = recorder.num_replays
    each = list(zip(passes(recorded._backbone), passes(plain._backbone), strict=True))
    assert all(torch.equal(found, expected) for found, expected in each)
    assert len({float(found.double().sum()) for found, _ in each}) == len(each)
    assert recorder.is_used == (recorder.num_replays - before > len(each) / 2)


def text_fill(prefix: str = PREFIX, **fields: int) -> Fill:
    return Fill(id=7, prefix=prefix, suffix=SUFFIX, **{"max_tokens": 12, "max_steps": 9, **fields})


def answers(filler: DiffusionGemmaFiller) -> Iterator[Filled]:
    """Fill after contexts that grow and shrink, each after a fill that was cut short."""
    for number, lines in enumerate((0, 30, 1)):
        request = text_fill("x = [1, 2]\n" * lines + PREFIX, seed=number)
        left = iter(range(5))
        with pytest.raises(Cancelled):
            filler.fill(request, cancelling(lambda left=left: next(left, None) is None))
        yield filler.fill(request, NO_CONTROL)
        yield filler.fill(text_fill(num_candidates=3, max_tokens=30), NO_CONTROL)
        yield filler.fill(text_fill("# a long hole\n", max_tokens=70), NO_CONTROL)


def test_a_fill_is_the_same_with_recorded_passes(pair: Any) -> None:
    recorded, recorder, plain = pair
    before = recorder.num_replays
    for found, expected in zip(answers(recorded), answers(plain), strict=True):
        ours, theirs = ((it, *it.others) for it in (found, expected))
        assert [(it.text, it.tokens) for it in ours] == [(it.text, it.tokens) for it in theirs]
        assert found.num_forwards == expected.num_forwards
    assert recorder.is_used == (recorder.num_replays > before)


def shifted(run: Pass, ids: Tensor, logits: Tensor) -> Pass:
    return lambda ids, logits: run(ids, logits) + 1


def failing(run: Pass, ids: Tensor, logits: Tensor) -> Pass:
    raise RuntimeError("operation not\npermitted")


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        (shifted, "a replay differs from the pass"),
        (failing, "RuntimeError: operation not permitted"),
        (lambda run, ids, logits: None, "no memory is left for one"),
    ],
)
def test_what_cannot_be_recorded_is_run_and_said(record, fault, tmp_path: Path) -> None:
    load = partial(load_diffusion_gemma, save_tiny_checkpoint(tmp_path), device="cpu", name="tiny")
    plain, without = (load(dtype=torch.float32) for _ in range(2))
    without._backbone.use_graphs(record)
    assert without.info.notes[-1] == f"no CUDA graphs: {fault}"
    found, expected = (each.fill(text_fill(), NO_CONTROL) for each in (without, plain))
    assert (found.text, found.tokens) == (expected.text, expected.tokens)


@pytest.mark.parametrize("device", DEVICES[1:])
def test_a_card_goes_on_after_a_failed_recording(device: str) -> None:
    """A pass that waits for the card cannot be recorded."""
    ids = torch.arange(6, device=device)[None]
    logits = torch.ones(1, 6, 10, device=device)
    waits, records = (
        CanvasGraph(run, record_on_card)
        for run in (
            lambda ids, logits: logits * int(ids.sum()),
            lambda ids, logits: logits * ids.sum(),
        )
    )
    for graph in (waits, records):
        for number in (1, 2, 3, 4):
            assert graph(ids, logits * number).unique().tolist() == [15.0 * number]
        assert torch.cuda.current_stream() == torch.cuda.default_stream()
        torch.cuda.empty_cache()
    assert waits.fault is not None
    assert records.fault is None
