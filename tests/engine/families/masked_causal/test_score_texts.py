"""Texts at one place are compared with the present one, as single passes over the whole would."""

import math
from collections.abc import Sequence

import pytest
import torch
from cancel_when import cancelling
from toy_causal import toy_backbone, toy_text

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.next_edit.edited_window import window_below
from intarsia.engine.families.masked_causal.next_edit.window_reader import WindowReader
from intarsia.engine.families.masked_causal.score_texts import TextScorer
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import ScoreTexts

REQUEST = ScoreTexts(
    id=7,
    prefix="import os\n\n\ndef area(width, height):\n    return ",
    present="width * height)",
    texts=("width * height", "(width * height)", "width * height)", "height * width * 2"),
    suffix="\n\nx\n",
)


def nothing_held(_: Sequence[int]) -> tuple[KvCache | None, int]:
    return None, 0


@pytest.fixture(scope="module")
def backbone(toy) -> CausalBackbone:
    return toy_backbone(toy)


@pytest.fixture(scope="module")
def text(toy) -> FimTokenizer:
    return toy_text(toy)


@pytest.fixture
def scorer(backbone: CausalBackbone, text: FimTokenizer) -> TextScorer:
    return TextScorer(backbone, text, WindowReader(backbone, nothing_held), max_tokens=500)


@torch.inference_mode()
def log_p(backbone: CausalBackbone, ids: Sequence[int]) -> float:
    rows = frozen_rows(list(ids), start=0, device=backbone.device)
    logits = backbone.logits(backbone.forward(rows, backbone.new_cache())).log_softmax(-1)
    return sum(float(logits[i - 1, token]) for i, token in enumerate(ids) if i)


def whole(text: FimTokenizer, request: ScoreTexts, middle: str) -> list[int]:
    return window_below(text, request.prefix + middle + request.suffix)


def test_a_gain_is_the_difference_of_whole_texts(
    scorer: TextScorer, backbone: CausalBackbone, text: FimTokenizer
):
    answer = scorer.score(REQUEST, NO_CONTROL)
    present = log_p(backbone, whole(text, REQUEST, REQUEST.present))
    expected = [log_p(backbone, whole(text, REQUEST, it)) - present for it in REQUEST.texts]
    assert answer.gains == pytest.approx(expected, abs=1e-3)
    assert answer.gains[2] == 0.0
    assert answer.id == 7


def test_text_far_after_the_change_is_not_scored(
    scorer: TextScorer, backbone: CausalBackbone, text: FimTokenizer
):
    long = ScoreTexts(
        id=1, prefix="x = ", present="1", texts=("2", "f("), suffix="\n" + "y = x\n" * 40
    )
    ids = whole(text, long, "1")
    counted = []
    forward = backbone.forward
    backbone.forward = lambda rows, cache: counted.append(len(rows.ids)) or forward(rows, cache)
    try:
        gains = scorer.score(long, NO_CONTROL).gains
    finally:
        del backbone.forward
    assert all(gain is not None and math.isfinite(gain) for gain in gains)
    assert sum(counted) < len(ids) + 2 * 40


def test_only_the_texts_that_begin_likeliest_are_scored(scorer: TextScorer):
    every = scorer.score(REQUEST, NO_CONTROL).gains
    few = ScoreTexts(
        id=1,
        prefix=REQUEST.prefix,
        present=REQUEST.present,
        texts=REQUEST.texts,
        suffix=REQUEST.suffix,
        max_scored=2,
    )
    some = scorer.score(few, NO_CONTROL).gains
    assert some.count(None) == 2
    known = [(one, other) for one, other in zip(some, every, strict=True) if one is not None]
    assert [one for one, _ in known] == pytest.approx([other for _, other in known], abs=1e-4)


def test_scoring_ends_within_a_chunk(scorer: TextScorer):
    passes = iter(range(9))
    with pytest.raises(Cancelled):
        scorer.score(REQUEST, cancelling(lambda: next(passes) >= 2))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"texts": ()}, "the number of texts"),
        ({"max_scored": 0}, "max_scored"),
        ({"prefix": "x = 1\n" * 400}, "the number of tokens"),
    ],
)
def test_a_bad_request_is_named(scorer: TextScorer, fields: dict[str, object], named: str):
    asked = {name: getattr(REQUEST, name) for name in REQUEST.__struct_fields__} | fields
    with pytest.raises(ValueError, match=named):
        scorer.score(ScoreTexts(**asked), NO_CONTROL)
