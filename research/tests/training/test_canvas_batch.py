"""Training canvases have the rows that a fill has."""

import random
from pathlib import Path

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_causal import toy_text
from toy_corpus_training import MIX

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimIds
from intarsia.training.packed_holes import HoleIds
from intarsia_research.training.canvas_batch import draw_batch

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


def test_the_same_seed_draws_the_same_canvases(toy: Path) -> None:
    fim = toy_text(toy).mark_ids()
    hole = HoleIds(prefix=range(20, 40), middle=range(40, 60), suffix=range(60, 70), group=0)
    one, same, other = (draw_batch([hole], MIX, fim, random.Random(s)) for s in (1, 1, 2))
    assert torch.equal(one.row_ids, same.row_ids) and torch.equal(one.targets, same.targets)
    assert one.row_ids.shape != other.row_ids.shape or not torch.equal(one.row_ids, other.row_ids)


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
