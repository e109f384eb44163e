"""Passes of fixed shapes, over padded contexts, say what passes of the shapes as they come say."""

import random
from typing import Any

import pytest
import torch
from tiny_diffusion_gemma import SLIDING_WINDOW, VOCAB_SIZE, tiny_model

from intarsia.engine.diffusion.canvas import TokenCanvas, random_canvas
from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.backbone.model import DiffusionGemmaBackbone
from intarsia_research.model_cost.cuda_graph_passes import FixedShapePasses

# transformers' own import of a torch module warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny_model()


def canvas_of(length: int, seed: int = 0) -> TokenCanvas:
    generator = torch.Generator().manual_seed(seed)
    return random_canvas([None] * length, vocab_size=VOCAB_SIZE, generator=generator)


def fixed(model: Any, *, smallest: int = 16) -> DiffusionGemmaBackbone:
    backbone = DiffusionGemmaBackbone(model)
    backbone.use(FixedShapePasses(model, has_graphs=False, smallest=smallest))
    return backbone


def assert_same(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Masked sums run over more terms: the last bits may differ."""
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("length", [1, SLIDING_WINDOW - 1, SLIDING_WINDOW, 15, 16, 17, 40])
def test_any_context_and_canvas_gives_the_same_logits(model: Any, length: int) -> None:
    context = [i % 50 + 3 for i in range(length)]
    plain, padded = DiffusionGemmaBackbone(model), fixed(model)
    plain.prefill(context)
    padded.prefill(context)
    for canvas in (canvas_of(12), canvas_of(5), canvas_of(12, seed=1)):
        first = plain.predict(canvas, None)
        assert_same(padded.predict(canvas, None), first)
        assert_same(padded.predict(canvas, first), plain.predict(canvas, first))
        assert_same(padded.predict(canvas, None), first)  # the signal of before is gone


def test_buffers_that_held_other_contexts_say_nothing_of_them(model: Any) -> None:
    padded = fixed(model)
    dice = random.Random(3)
    for _ in range(12):
        context = [dice.randrange(3, VOCAB_SIZE) for _ in range(dice.randrange(1, 60))]
        padded.prefill(context)
        plain = DiffusionGemmaBackbone(model)
        plain.prefill(context)
        canvas = canvas_of(dice.choice([4, 12]))
        assert_same(padded.predict(canvas, None), plain.predict(canvas, None))


def test_shapes_stay_the_same_while_a_context_grows_within_its_bucket(model: Any) -> None:
    seen = set()
    backbone = fixed(model, smallest=32)
    attention = model.model.decoder.layers[-1].self_attn

    def look(module: Any, arguments: Any, words: Any, output: Any) -> None:
        seen.add(tuple(words["attention_mask"].shape))

    hook = attention.register_forward_hook(look, with_kwargs=True)
    try:
        for length in (3, 17, 32):
            backbone.prefill(list(range(3, 3 + length)))
            backbone.predict(canvas_of(12), None)
    finally:
        hook.remove()
    assert seen == {(1, 1, 12, 32 + 12)}


def test_a_context_that_outgrows_its_bucket_gets_a_larger_one(model: Any) -> None:
    padded, plain = fixed(model, smallest=8), DiffusionGemmaBackbone(model)
    for length in (5, 50, 5):
        context = [i % 40 + 5 for i in range(length)]
        padded.prefill(context)
        plain.prefill(context)
        assert_same(padded.predict(canvas_of(6), None), plain.predict(canvas_of(6), None))


@pytest.mark.parametrize("is_fixed", [False, True])
def test_several_canvases_at_once_say_what_each_says_alone(model: Any, is_fixed: bool) -> None:
    backbone = fixed(model) if is_fixed else DiffusionGemmaBackbone(model)
    backbone.prefill(list(range(3, 30)))
    canvases = [canvas_of(7, seed) for seed in range(3)]
    alone = torch.stack([backbone.predict(canvas, None) for canvas in canvases])
    ids = torch.stack([canvas.ids for canvas in canvases])
    assert_same(backbone.predict_many(ids, None), alone)
    then = torch.stack(
        [backbone.predict(canvas, logits) for canvas, logits in zip(canvases, alone, strict=True)]
    )
    assert_same(backbone.predict_many(ids, alone), then)


def test_graphs_are_refused_where_there_is_no_card(model: Any) -> None:
    with pytest.raises(ModelError, match="graphs need an NVIDIA GPU"):
        FixedShapePasses(model, has_graphs=True)
