"""Contexts that are read apart from the one that fills hold."""

import pytest
import torch
from cancel_when import cancelling
from tiny_diffusion_gemma import VOCAB_SIZE, tiny_model

from intarsia.engine.diffusion.canvas import random_canvas
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.diffusion_gemma.backbone.model import DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.next_edit import context_reader
from intarsia.engine.families.diffusion_gemma.next_edit.context_reader import ContextReader
from intarsia.engine.fill_control import NO_CONTROL, FillControl

# transformers' own import of a torch module warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")

CANVAS = random_canvas(
    [None, 3, None], vocab_size=VOCAB_SIZE, generator=torch.Generator().manual_seed(1)
)
OF_FILLS = [2, 9, 8, 7]
ONE, OTHER = [2, *range(4, 30)], [2, *range(4, 20), *range(40, 50)]


@pytest.fixture
def backbone() -> DiffusionGemmaBackbone:
    backbone = DiffusionGemmaBackbone(tiny_model())
    backbone.prefill(OF_FILLS)
    return backbone


def test_a_pass_after_a_context_is_the_backbones_own(backbone: DiffusionGemmaBackbone) -> None:
    reader = ContextReader(backbone)
    contexts = [reader.read(ids, NO_CONTROL) for ids in (ONE, OTHER, ONE[:9])]
    found = [reader.predict_after(context)(CANVAS, None) for context in contexts]
    for logits, ids in zip(found, (ONE, OTHER, ONE[:9]), strict=True):
        alone = DiffusionGemmaBackbone(tiny_model())
        alone.prefill(ids)
        torch.testing.assert_close(logits, alone.predict(CANVAS, None), atol=1e-4, rtol=1e-4)


def test_the_context_of_fills_is_there_at_every_checkpoint_and_afterwards(
    backbone: DiffusionGemmaBackbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_reader, "CHUNK", 5)
    expected = backbone.predict(CANVAS, None)
    seen: list[bool] = []

    def checkpoint() -> None:
        seen.append(torch.equal(backbone.predict(CANVAS, None), expected))

    reader = ContextReader(backbone)
    context = reader.read(ONE, FillControl(checkpoint=checkpoint))
    reader.predict_after(context)(CANVAS, None)
    checkpoint()
    assert len(seen) == 7
    assert all(seen)
    assert backbone.prefill(OF_FILLS).num_computed == 0


def test_what_is_held_is_not_read_again(backbone: DiffusionGemmaBackbone) -> None:
    reader = ContextReader(backbone)
    reader.read(ONE, NO_CONTROL)
    assert (reader.num_computed, reader.num_reused) == (26, 1), "fills hold the first"
    reader.read(OTHER, NO_CONTROL)
    reader.read(ONE, NO_CONTROL)
    assert reader.num_computed == 26 + 10
    assert reader.num_reused == 1, "a round counts its tokens once"
    reader.begin_round()
    reader.read(OTHER, NO_CONTROL)
    assert (reader.num_computed, reader.num_reused) == (0, len(OTHER))


def test_what_was_read_before_a_cancel_is_held(
    backbone: DiffusionGemmaBackbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_reader, "CHUNK", 10)
    reader, left = ContextReader(backbone), iter(range(2))
    with pytest.raises(Cancelled):
        reader.read(ONE, cancelling(lambda: next(left, None) is None))
    num_read = reader.num_computed
    assert num_read == 20
    reader.read(ONE, NO_CONTROL)
    assert reader.num_computed == 26


def test_few_tokens_are_held(
    backbone: DiffusionGemmaBackbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_reader, "_MAX_HELD_TOKENS", 40)
    reader = ContextReader(backbone)
    reader.read(ONE, NO_CONTROL)
    reader.read(OTHER, NO_CONTROL)  # in the place of the first
    reader.begin_round()
    reader.read(ONE, NO_CONTROL)
    assert reader.num_computed == len(ONE) - 17


def test_a_failed_pass_brings_back_the_context_of_fills(
    backbone: DiffusionGemmaBackbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = ContextReader(backbone)
    expected = backbone.predict(CANVAS, None)

    def fails(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(backbone, "_encode", fails)
        with pytest.raises(MemoryError):
            reader.read(ONE, NO_CONTROL)
    assert torch.equal(backbone.predict(CANVAS, None), expected)
    assert reader.read(ONE, NO_CONTROL).ids == ONE
