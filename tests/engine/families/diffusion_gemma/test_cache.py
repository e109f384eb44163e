"""What the backbone holds of earlier contexts never changes what it predicts."""

import random
from typing import Any

import pytest
import torch
from cancel_when import cancelling
from tiny_diffusion_gemma import SLIDING_WINDOW, VOCAB_SIZE, tiny_model

from intarsia.engine.diffusion.canvas import random_canvas
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.diffusion_gemma import model as model_module
from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone
from intarsia.engine.families.protocol import common_prefix_length

CANVAS = random_canvas(
    [None, 3, None, None], vocab_size=VOCAB_SIZE, generator=torch.Generator().manual_seed(1)
)


def assert_same(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Chunks of other sizes sum in another order: the last bits may differ."""
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def predict_cold(model: Any, context: list[int]) -> torch.Tensor:
    backbone = DiffusionGemmaBackbone(model)
    backbone.prefill(context)
    return backbone.predict(CANVAS, None)


def predict_by_transformers(model: Any, context: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        logits: torch.Tensor = model(
            input_ids=torch.tensor([context]), decoder_input_ids=CANVAS.ids[None]
        ).logits[0]
    return logits


@pytest.mark.parametrize("length", [1, SLIDING_WINDOW - 1, SLIDING_WINDOW, 3 * SLIDING_WINDOW])
def test_predicts_as_transformers_does_within_and_beyond_the_sliding_window(length: int) -> None:
    model = tiny_model()
    context = [i % 50 + 3 for i in range(length)]
    assert_same(predict_cold(model, context), predict_by_transformers(model, context))


def test_warm_equals_cold_after_any_edits() -> None:
    model = tiny_model()
    warm = DiffusionGemmaBackbone(model)
    dice = random.Random(5)
    context = [2]
    warm.prefill(context)
    for _ in range(40):
        kept = dice.choice([len(context), len(context) - 1, dice.randrange(len(context) + 1)])
        added = [dice.randrange(3, VOCAB_SIZE) for _ in range(dice.choice([0, 1, 2, 15]))]
        before, context = context, (context[:kept] + added) or [2]
        prefilled = warm.prefill(context)
        assert prefilled.num_reused + prefilled.num_computed == len(context)
        assert prefilled.num_reused == common_prefix_length(before, context)
        assert_same(warm.predict(CANVAS, None), predict_cold(model, context))


def test_a_prediction_does_not_change_what_is_held() -> None:
    backbone = DiffusionGemmaBackbone(tiny_model())
    backbone.prefill([2, 5, 6, 7])
    first = backbone.predict(CANVAS, None)
    assert torch.equal(backbone.predict(CANVAS, None), first)
    assert backbone.cached_tokens() == 4


def test_a_broken_prefill_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model()
    backbone = DiffusionGemmaBackbone(model)
    backbone.prefill([2, 5, 6])

    def broken(*args: Any, **kwargs: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(model.model.encoder.language_model.layers[1], "forward", broken)
        with pytest.raises(MemoryError):
            backbone.prefill([2, 5, 9, 9])
    assert backbone.cached_tokens() == 0
    assert backbone.prefill([2, 5, 6]).num_computed == 3
    assert_same(backbone.predict(CANVAS, None), predict_cold(model, [2, 5, 6]))


def test_cancel_is_honoured_between_two_chunks_and_keeps_what_was_read(monkeypatch):
    monkeypatch.setattr(model_module, "_CHUNK", 4)
    model = tiny_model()
    backbone = DiffusionGemmaBackbone(model)
    context = list(range(3, 33))
    with pytest.raises(Cancelled):
        backbone.prefill(context, cancelling(lambda: backbone.cached_tokens() >= 12))
    prefilled = backbone.prefill(context)
    assert (prefilled.num_reused, prefilled.num_computed) == (12, 18)
    assert_same(backbone.predict(CANVAS, None), predict_by_transformers(model, context))


def test_an_empty_context_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        DiffusionGemmaBackbone(tiny_model()).prefill([])
