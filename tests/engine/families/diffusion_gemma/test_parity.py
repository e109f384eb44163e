"""With nothing fixed and the same seed, our loop writes what transformers' generate writes.

What the backbone holds of earlier contexts never changes what it predicts.
"""

import random
from typing import Any

import pytest
import torch
from cancel_when import cancelling
from tiny_diffusion_gemma import SLIDING_WINDOW, VOCAB_SIZE, tiny_model
from transformers.cache_utils import DynamicLayer

from intarsia.engine.diffusion.acceptance import StableAndConfident
from intarsia.engine.diffusion.canvas import random_canvas
from intarsia.engine.diffusion.denoise import denoise
from intarsia.engine.diffusion.policies import uniform_state_policy
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.diffusion_gemma import model as model_module
from intarsia.engine.families.diffusion_gemma.kv_cache import WindowLayer
from intarsia.engine.families.diffusion_gemma.model import (
    DiffusionGemmaBackbone,
    fold_heads,
    folded_attention,
)
from intarsia.engine.families.protocol import common_prefix_length

PAD = 0


def _theirs(model: Any, prompt: list[int], num_canvases: int, seed: int, **settings: Any) -> Any:
    from transformers.models.diffusion_gemma.generation_diffusion_gemma import (
        EntropyBoundSamplerConfig,
    )

    bound = EntropyBoundSamplerConfig(entropy_bound=settings["entropy_bound"])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return model.generate(
            torch.tensor([prompt]),
            # any number of tokens within the last canvas asks for that canvas
            max_new_tokens=(num_canvases - 1) * model.config.canvas_length + 1,
            max_denoising_steps=settings["max_steps"],
            sampler_config=bound,
            confidence_threshold=settings["confidence_threshold"],
            stability_threshold=settings["stability_threshold"],
            eos_token_id=settings["eos_ids"],
            pad_token_id=PAD,
        )


def _ours(
    model,
    prompt,
    num_canvases,
    seed,
    *,
    eos_ids,
    stability_threshold,
    confidence_threshold,
    **options,
):
    backbone = DiffusionGemmaBackbone(model)
    generator = torch.Generator().manual_seed(seed)
    stop = StableAndConfident(
        stability_threshold=stability_threshold, confidence_threshold=confidence_threshold
    )
    policy = uniform_state_policy(vocab_size=backbone.vocab_size, stop=stop, **options)
    written: list[int] = []
    num_forwards = 0
    for _ in range(num_canvases):
        backbone.prefill(prompt + written)
        free = [None] * model.config.canvas_length
        block = denoise(
            backbone.predict,
            random_canvas(free, vocab_size=backbone.vocab_size, generator=generator),
            policy,
            generator=generator,
        )
        num_forwards += block.num_forwards
        ids = block.ids.tolist()
        if ends := [i for i, token in enumerate(ids) if token in eos_ids]:
            return written + ids[: ends[0] + 1], num_forwards
        written += ids
    return written, num_forwards


def several_canvases_model(**options: Any) -> Any:
    """Return a tiny model in float64.

    From the second canvas on, our encoder masks whole keys where theirs cuts them to the window:
    the sums differ in their last bit. Random weights blow such a bit up through the
    self-conditioning (tenfold a step); in float64 it stays below what decides a token.
    """
    model = tiny_model(**options).double()
    model.set_experts_implementation("eager")  # the grouped kernel has no float64
    return model


def check_parity(model, *, prompt_length, num_canvases, seed, **settings) -> int:
    """Compare every token and the number of passes; return the passes that were made."""
    random = torch.Generator().manual_seed(1000 + seed)
    prompt = torch.randint(3, VOCAB_SIZE, (prompt_length,), generator=random).tolist()
    theirs = _theirs(model, prompt, num_canvases, seed, **settings)
    ours, num_forwards = _ours(model, prompt, num_canvases, seed, **settings)
    written = theirs.sequences[0, prompt_length:].tolist()
    assert written[: len(ours)] == ours
    assert set(written[len(ours) :]) <= {PAD}
    num_valid = sum(token != PAD for token in written)
    assert theirs.tokens_per_forward.item() == pytest.approx(num_valid / num_forwards)
    return num_forwards


# An eos outside the vocabulary never comes, so all canvases are written.
SETTINGS = {
    "max_steps": 12,
    "entropy_bound": 0.5,
    "confidence_threshold": 0.005,
    "stability_threshold": 1,
    "eos_ids": [VOCAB_SIZE],
}


@pytest.mark.parametrize("canvas_length", [5, 16, 48])
def test_same_tokens_over_seeds_and_canvas_lengths(canvas_length: int) -> None:
    for seed in range(4):
        model = tiny_model(canvas_length=canvas_length, seed=seed)
        check_parity(model, prompt_length=21, num_canvases=1, seed=seed, **SETTINGS)


@pytest.mark.slow
def test_same_tokens_with_the_released_vocabulary_canvas_and_settings() -> None:
    """Two steps of the released 48, as each is of 67 million logits."""
    released = {"entropy_bound": 0.1, "confidence_threshold": 0.005, "stability_threshold": 1}
    model = tiny_model(canvas_length=256, vocab_size=262_144)
    settings = {**released, "eos_ids": [1, 106, 50], "max_steps": 2}
    assert check_parity(model, prompt_length=21, num_canvases=1, seed=0, **settings) == 2


@pytest.mark.parametrize(
    ("options", "num_canvases", "settings"),
    [
        ({"canvas_length": 5}, 2, {}),
        ({"canvas_length": 16}, 3, {}),
        ({}, 3, {"eos_ids": [1, 33, 50]}),  # ends at the same canvas
        ({}, 2, {"entropy_bound": 0.01}),
        ({}, 2, {"entropy_bound": 3.0}),
        ({}, 2, {"entropy_bound": 30.0}),
    ],
)
def test_same_tokens_over_several_canvases(options, num_canvases, settings):
    for seed in range(2):
        model = several_canvases_model(seed=seed, **options)
        others = {"num_canvases": num_canvases, "seed": seed, **SETTINGS, **settings}
        check_parity(model, prompt_length=21, **others)


def test_same_tokens_in_bfloat16() -> None:
    model = tiny_model(seed=1).bfloat16()
    for seed in range(4):
        check_parity(model, prompt_length=6, num_canvases=1, seed=seed, **SETTINGS)


@pytest.mark.parametrize("stability_threshold", [0, 1, 2])
def test_stops_at_the_same_step(stability_threshold: int) -> None:
    settings = {**SETTINGS, "max_steps": 40, "stability_threshold": stability_threshold}
    settings["confidence_threshold"] = 1.5
    steps = set()
    for seed in range(6):
        model = several_canvases_model(canvas_length=1, seed=seed)  # does not change at times
        steps.add(check_parity(model, prompt_length=5, num_canvases=2, seed=seed, **settings))
    assert len(steps) > 2, f"the runs took hardly different steps: {steps}"


@pytest.mark.parametrize("is_masked", [False, True])
@pytest.mark.parametrize("num_key_heads", [1, 2, 4])
def test_folded_attention_is_attention_with_repeated_keys(num_key_heads: int, is_masked: bool):
    random = torch.Generator().manual_seed(num_key_heads)
    queries = torch.randn(3, 4, 5, 8, generator=random)
    keys, values = torch.randn(2, 3, num_key_heads, 11, 8, generator=random)
    is_seen = torch.rand(3, 1, 1, 11, generator=random) < 0.7
    mask = is_seen.expand(-1, -1, 5, -1) if is_masked else None
    repeated = [each.repeat_interleave(4 // num_key_heads, dim=1) for each in (keys, values)]
    expected = torch.nn.functional.scaled_dot_product_attention(
        queries, *repeated, attn_mask=mask, scale=0.5
    )
    torch.testing.assert_close(folded_attention(queries, keys, values, mask, 0.5), expected)


@pytest.mark.parametrize("length", [3, SLIDING_WINDOW, 5 * SLIDING_WINDOW])
def test_a_model_predicts_as_before(length: int) -> None:
    plain, folded = (DiffusionGemmaBackbone(model) for model in (tiny_model(), folded_model()))
    context = [i % 50 + 3 for i in range(length)]
    canvas = random_canvas(
        [None] * 12, vocab_size=VOCAB_SIZE, generator=torch.Generator().manual_seed(1)
    )
    for backbone in (plain, folded):
        backbone.prefill(context[: length // 2])
        backbone.prefill(context)  # after tokens that are held, the encoder has a mask
    expected = plain.predict(canvas, None)
    torch.testing.assert_close(folded.predict(canvas, None), expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(
        folded.predict(canvas, expected), plain.predict(canvas, expected), atol=1e-4, rtol=1e-4
    )


def folded_model() -> Any:
    model = tiny_model()
    fold_heads(model)
    return model


def test_only_this_model_attends_so() -> None:
    models = tiny_model(), folded_model(), tiny_model()
    attentions = [it.model.decoder.layers[0].self_attn.config for it in models]
    names = [it._attn_implementation for it in attentions]
    assert names == ["sdpa", "intarsia_folded", "sdpa"]


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
        num_shared = common_prefix_length(before, context)
        if num_shared >= len(before) - SLIDING_WINDOW // 2:
            assert prefilled.num_reused == num_shared
        assert prefilled.num_reused in (0, num_shared), "beyond the window all is read again"
        assert_same(warm.predict(CANVAS, None), predict_cold(model, context))


def num_bytes_of(layers: Any) -> int:
    return sum(
        it.keys.untyped_storage().nbytes() + it.values.untyped_storage().nbytes() for it in layers
    )


def test_layers_with_a_window_hold_two_windows_at_most() -> None:
    backbone = DiffusionGemmaBackbone(tiny_model())
    cache = backbone._encoder_cache
    for length in (1, 5, 15, 16, 17, 60, 61, 300, 301, 307):
        backbone.prefill([i % 50 + 3 for i in range(length)])
        cache = backbone._encoder_cache
        *windows, full = cache.layers
        a_token = 2 * 16 * 4  # keys and values, width 16 (32 in the last layer), float32
        assert num_bytes_of([full]) == length * 2 * a_token
        for layer in windows:
            assert num_bytes_of([layer]) <= min(length, 2 * SLIDING_WINDOW) * a_token


def test_a_context_of_262144_tokens_takes_5_8_gb_in_the_released_sizes() -> None:
    """Counted on torch's meta device, with the sizes of the released model's layers."""
    num_tokens, window = 262_144, 1_024
    layers = [*(WindowLayer(window) for _ in range(25)), *(DynamicLayer() for _ in range(5))]
    for layer in layers:
        shape = (1, 8, 4_096, 256) if isinstance(layer, WindowLayer) else (1, 2, 4_096, 512)
        chunk = torch.empty(shape, dtype=torch.bfloat16, device="meta")
        for _ in range(num_tokens // 4_096):
            layer.update(chunk, chunk)
        assert layer.get_seq_length() == num_tokens
    held = sum(2 * layer.keys.numel() * 2 for layer in layers)
    assert held <= 5.8e9


@pytest.mark.parametrize("num_tokens", [3, 5 * SLIDING_WINDOW])
def test_canvases_of_several_lengths_are_predicted_at_once_as_alone(num_tokens: int) -> None:
    model = tiny_model()
    fold_heads(model)
    backbone = DiffusionGemmaBackbone(model)
    backbone.prefill([i % 50 + 3 for i in range(num_tokens)])
    dice = torch.Generator().manual_seed(3)
    canvases = [
        random_canvas([None] * length, vocab_size=VOCAB_SIZE, generator=dice)
        for length in (4, 12, 7, 12, 1)
    ]
    for some in (canvases, canvases[1:4:2]):
        for canvas, found in zip(some, backbone.predict_each(some), strict=True):
            assert_same(found, backbone.predict(canvas, None))


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
