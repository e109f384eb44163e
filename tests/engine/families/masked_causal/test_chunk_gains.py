"""The gain of a chunk: what it is, that it can be interrupted, and what it leaves alone."""

import itertools
import math
from pathlib import Path

import pytest
import torch
from cancel_when import cancelling
from toy_causal import toy_backbone, toy_fill, toy_filler, toy_text
from toy_causal_fill import run_fill

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal import chunk_gains
from intarsia.engine.families.masked_causal.backbone.chunks import SHORT_CHUNK
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone, Rows
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.chunk_gains import ChunkScorer
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import ContextChunk, ProjectContext, ScoreChunks

PREFIX = "import os\n" * 30 + "def f(a):\n    x = "
SUFFIX = "\n    return x\n" * 20
NAME, PATH = "pkg", "pkg/f.py"


def request(*texts: str, prefix: str = PREFIX, suffix: str = SUFFIX) -> ScoreChunks:
    chunks = tuple(ContextChunk(path="a.py", text=text) for text in texts)
    project = ProjectContext(repository=NAME, path=PATH, chunks=chunks)
    return ScoreChunks(id=1, prefix=prefix, suffix=suffix, project=project)


@pytest.fixture(scope="module")
def backbone(toy: Path) -> CausalBackbone:
    return toy_backbone(toy)


@pytest.fixture(scope="module")
def text(toy: Path) -> FimTokenizer:
    return toy_text(toy)


@pytest.fixture
def scorer(backbone: CausalBackbone, text: FimTokenizer) -> ChunkScorer:
    return ChunkScorer(backbone, text)


def mean_log_probability(backbone: CausalBackbone, ids: list[int], num_scored: int) -> float:
    """Return that of the last tokens, from one pass over all and the definition."""
    num = len(ids)
    rows = Rows(
        ids=torch.tensor(ids),
        positions=torch.arange(num),
        num_frozen=num,
        visible=torch.ones(num, num, dtype=torch.bool).tril(),
    )
    with torch.inference_mode():
        probabilities = backbone.logits(backbone.forward(rows, backbone.new_cache())).softmax(-1)
    scored = range(num - num_scored, num)
    return sum(math.log(float(probabilities[i - 1, ids[i]])) for i in scored) / num_scored


def test_it_is_the_difference_of_two_means(
    backbone: CausalBackbone, text: FimTokenizer, scorer: ChunkScorer
) -> None:
    name = [text.mark_id("<|repo_name|>"), *text.encode("pkg\n")]
    file_mark = text.mark_id("<|file_sep|>")
    own = [file_mark, *text.encode("pkg/f.py\n")]
    near = [*text.encode(PREFIX)[-200:], *text.encode(SUFFIX)[:100]]
    chunk = [file_mark, *text.encode("a.py\ndef g(val): ...\n")]
    with_it = mean_log_probability(backbone, [*name, *chunk, *own, *near], 250)
    without = mean_log_probability(backbone, [*name, *own, *near], 250)
    assert scorer.gains(request("def g(val): ..."), NO_CONTROL)[0] == pytest.approx(
        with_it - without, abs=1e-4
    )


def test_each_chunk_is_scored_alone(scorer: ChunkScorer) -> None:
    texts = ("def g(val): ...", "import os\n" * 8, "x")
    together = scorer.gains(request(*texts), NO_CONTROL)
    alone = [scorer.gains(request(text), NO_CONTROL)[0] for text in texts]
    assert list(together) == pytest.approx(alone)
    assert len(set(together)) == len(texts)


def test_the_same_chunk_at_the_same_place_is_scored_once(scorer: ChunkScorer) -> None:
    first = scorer.gains(request("x = 1", "y = 2"), NO_CONTROL)
    never = cancelling(lambda: True)
    assert scorer.gains(request("y = 2", "x = 1"), never) == first[::-1]
    with pytest.raises(Cancelled):
        scorer.gains(request("x = 1", prefix=PREFIX + "y"), never)


def test_another_hole_in_the_same_code_is_another_place(
    scorer: ChunkScorer, backbone: CausalBackbone, text: FimTokenizer
) -> None:
    """The code is the same, but other tokens of it are scored."""
    code = "".join(f"v{number} = {number}\n" for number in range(30))[:220]
    places = [request("x = 1\n", prefix=code[:at], suffix=code[at:]) for at in (160, 195)]
    both = [scorer.gains(place, NO_CONTROL) for place in places]
    assert both[1] == ChunkScorer(backbone, text).gains(places[1], NO_CONTROL)
    assert both[0] != both[1]


def test_a_chunk_of_far_more_tokens_than_characters_gains_nothing(
    scorer: ChunkScorer, text: FimTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_gains, "_MAX_CHUNK_TOKENS", 100)
    rare = "\U0001f600" * 60
    assert len(text.encode(rare)) > 100
    assert scorer.gains(request(rare, "x = 1\n"), NO_CONTROL)[0] == 0.0
    assert scorer.gains(request(rare, "x = 1\n"), NO_CONTROL)[1] != 0.0


def test_a_gain_that_is_no_number_is_none(
    scorer: ChunkScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorer, "_log_probability", lambda *_: math.nan)
    assert scorer.gains(request("x = 1\n"), NO_CONTROL) == (0.0,)


def test_without_code_near_the_hole_nothing_is_gained(scorer: ChunkScorer) -> None:
    assert scorer.gains(request("x", "y", prefix="", suffix=""), NO_CONTROL) == (0.0, 0.0)


@pytest.mark.parametrize(("prefix", "suffix"), [("x", ""), ("", "x"), ("", "\n"), ("a\n", "b\n")])
def test_a_short_file_is_scored_whole(scorer: ChunkScorer, prefix: str, suffix: str) -> None:
    gain = scorer.gains(request("def g(val): ...", prefix=prefix, suffix=suffix), NO_CONTROL)[0]
    assert math.isfinite(gain) and gain != 0


def test_an_empty_and_a_huge_chunk_gain_nothing(scorer: ChunkScorer) -> None:
    assert scorer.gains(request("", "x" * 1_000_000), NO_CONTROL) == (0.0, 0.0)


def test_it_ends_between_any_two_short_passes(
    backbone: CausalBackbone, text: FimTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows_run: list[int] = []
    forward = backbone.forward

    def count(rows: Rows, cache: KvCache) -> torch.Tensor:
        rows_run.append(len(rows.ids))
        return forward(rows, cache)

    monkeypatch.setattr(backbone, "forward", count)
    for num_passes in itertools.count():
        scorer, asked = ChunkScorer(backbone, text), itertools.count()
        rows_run.clear()
        is_late = cancelling(lambda asked=asked, last=num_passes: next(asked) == last)
        try:
            scorer.gains(request("x = 1\n" * 20), is_late)
        except Cancelled:
            assert len(rows_run) == num_passes
            continue
        break
    assert num_passes > 8
    assert max(rows_run) <= SHORT_CHUNK


def test_contexts_and_fills_are_as_without_it(toy: Path, adapter: Path) -> None:
    """A fill runs at a checkpoint of a score, as the worker lets it."""
    filler, calm = (toy_filler(toy, adapter, max_context_tokens=512) for _ in range(2))
    fill = toy_fill(prefix=PREFIX, suffix=SUFFIX)
    run_fill(filler, fill)
    texts: list[str] = []

    def checkpoint() -> None:
        if len(texts) < 3:
            again = run_fill(filler, fill)
            assert again.num_prefilled == 0
            texts.append(again.text)

    gains = filler.score_chunks(request("x = 1", "y"), FillControl(checkpoint=checkpoint))
    assert gains == calm.score_chunks(request("x = 1", "y"), NO_CONTROL)
    assert texts == [run_fill(calm, fill).text] * 3
    assert filler.cached_tokens() == calm.cached_tokens()
