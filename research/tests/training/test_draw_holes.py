"""Training holes: what they are cut from, how often which kind, and that a seed decides."""

from collections import Counter
from pathlib import Path

import pytest
from corpus_files import corpus_file, functions
from toy_causal import toy_text

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.context_boundary import boundary_offset
from intarsia.engine.families.masked_causal.read_request import RequestReader
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill
from intarsia.infill.holes.hole import given_start
from intarsia_research.training.draw_holes import (
    KIND_WEIGHTS,
    MAX_FURTHER_LINES,
    MAX_HOLE_CHARS,
    MAX_PREFIX_CHARS,
    MAX_SPAN_LINES,
    MAX_SUFFIX_CHARS,
    TrainingHole,
    draw_holes,
)
from intarsia_research.training.encode_holes import encode_holes
from intarsia_research.training.packed_holes import HoleIds

NAMES = [f"name{n}" for n in range(60)]
TEXT = functions(*NAMES)
FILES = [corpus_file(functions(*NAMES[n:]), path=f"{n}.py") for n in (0, 5, 10)]


def test_a_hole_and_what_is_round_it_are_a_stretch_of_the_file():
    for hole in draw_holes(FILES, seed=1, per_file=50):
        assert hole.prefix + hole.hole + hole.suffix in TEXT
        assert hole.hole.strip()
        assert len(hole.prefix) <= MAX_PREFIX_CHARS
        assert len(hole.suffix) <= MAX_SUFFIX_CHARS
        assert len(hole.hole) <= MAX_HOLE_CHARS
        assert (hole.language, hole.package) == ("python", "pypi:small")


def test_the_context_is_cut_at_the_starts_of_lines():
    are_cut = []
    for hole in draw_holes(FILES[:1], seed=1, per_file=100):
        start = TEXT.find(hole.prefix + hole.hole + hole.suffix)
        assert start == 0 or TEXT[start - 1] == "\n"
        assert TEXT.endswith(hole.suffix) or hole.suffix.endswith("\n")
        are_cut.append((start > 0, not TEXT.endswith(hole.suffix)))
    assert {True, False} == {it[0] for it in are_cut} == {it[1] for it in are_cut}


def test_the_same_seed_draws_the_same_in_any_order_of_files():
    once = list(draw_holes(FILES, seed=5, per_file=9))
    again = list(draw_holes(reversed(FILES), seed=5, per_file=9))
    assert Counter(map(repr, once)) == Counter(map(repr, again))
    other = list(draw_holes(FILES, seed=6, per_file=9))
    assert Counter(map(repr, once)) != Counter(map(repr, other))


def test_kinds_come_as_often_as_their_weights_say():
    files = [corpus_file(f"# {n}\n{TEXT}", path=f"{n}.py") for n in range(30)]
    counts = Counter(hole.kind for hole in draw_holes(files, seed=1, per_file=40))
    total = sum(counts.values())
    for kind, weight in KIND_WEIGHTS.items():
        assert abs(counts[kind] / total - weight) < 0.05, kind


def test_no_hole_is_drawn_twice():
    text = functions("only")
    holes = list(draw_holes([corpus_file(text)], seed=1, per_file=10_000))
    places = [(hole.kind, len(hole.prefix), len(hole.hole)) for hole in holes]
    assert len(set(places)) == len(places)


def test_some_holes_go_on_over_lines_that_belong_to_them():
    holes = [
        hole
        for hole in draw_holes(FILES, seed=1, per_file=200)
        if hole.kind in ("line", "rest_of_line", "inside_word")
    ]
    several = [hole for hole in holes if "\n" in hole.hole]
    assert 0.15 < len(several) / len(holes) < 0.45
    for hole in several:
        own = hole.prefix.rpartition("\n")[2]
        own_indent = len(own) - len(own.lstrip())
        lines = hole.hole.split("\n")[1:]
        assert len(lines) <= MAX_FURTHER_LINES
        assert all(line.strip() for line in lines)
        assert all(len(line) - len(line.lstrip()) >= own_indent for line in lines)


def test_broken_and_empty_files_do_no_harm():
    files = [corpus_file(text) for text in ("", "\n\n", "def (:\n", "}}}}((((")]
    assert all(hole.hole for hole in draw_holes(files, seed=1, per_file=5))


def test_a_span_lies_between_lines_or_places_where_other_holes_begin():
    spans = [hole for hole in draw_holes(FILES, seed=1, per_file=300) if hole.kind == "span"]
    assert len(spans) > 40
    assert any("\n" in hole.hole for hole in spans)
    assert any("\n" not in hole.hole for hole in spans)
    assert any(hole.prefix[-1].isalpha() and hole.hole[0].isalpha() for hole in spans)
    assert any(hole.hole[-1].isalpha() and hole.suffix[0].isalpha() for hole in spans)
    assert all(hole.hole.count("\n") <= MAX_SPAN_LINES for hole in spans)
    at_line_end = [hole for hole in spans if hole.suffix.startswith("\n")]
    assert 0.15 < len(at_line_end) / len(spans) < 0.6
    assert sum("\n" in hole.hole for hole in at_line_end) > len(at_line_end) / 3
    whole_lines = [hole for hole in spans if hole.hole.endswith("\n")]
    assert any(hole.prefix.endswith("\n") for hole in whole_lines)


@pytest.fixture(scope="module")
def text(toy: Path) -> FimTokenizer:
    return toy_text(toy)


@pytest.fixture(scope="module")
def holes() -> list[TrainingHole]:
    names = ("alpha", "beta", "gamma", "delta", "ret", "val")
    files = [corpus_file(functions(first, *names), path=f"{first}.py") for first in names]
    return list(draw_holes(files, seed=1, per_file=12))


@pytest.fixture(scope="module")
def laid_out(text: FimTokenizer, holes: list[TrainingHole]) -> list[tuple[TrainingHole, HoleIds]]:
    pairs = [(hole, list(encode_holes([hole], text))) for hole in holes]
    return [(hole, ids[0]) for hole, ids in pairs if ids]


def test_nothing_of_a_text_is_lost(text, laid_out):
    for hole, ids in laid_out:
        before = "".join(text.pieces([*ids.prefix, *ids.given, *ids.middle], num_given=0))
        assert (hole.prefix + hole.hole).endswith(before)
        assert before.endswith(hole.hole)


def test_a_hole_after_a_context_boundary_is_read_as_in_training(text, laid_out):
    num_compared = 0
    for hole, ids in laid_out:
        start = given_start(hole.prefix, len(hole.prefix))
        prefix = hole.prefix[:start]
        context = "".join(text.pieces(ids.prefix, num_given=0))
        if context != prefix[: boundary_offset(prefix)] or len(context) == len(prefix):
            continue
        num_compared += 1
        reader = RequestReader(text, vocab_size=text.num_tokens, max_context_tokens=8192)
        request = Fill(
            id=1, prefix=prefix, given=hole.prefix[start:], suffix=hole.suffix[:700] or "\n"
        )
        read = reader.read(request, FillControl())
        trained = [*text.context(ids.prefix, ids.suffix), *ids.given]
        assert read.context[: len(trained)] == trained
        rest = b"".join(map(text.bytes_of, [*read.context[len(trained) :]])) + read.healed
        assert b"".join(map(text.bytes_of, ids.middle)).startswith(rest)
    assert num_compared > len(laid_out) // 3


def test_contexts_end_at_the_hole_and_at_boundaries_near_and_further_up(text, laid_out):
    lines = [
        "".join(text.pieces(ids.given, num_given=0)).count("\n") if ids.given else -1
        for _, ids in laid_out
    ]
    at_the_hole, near = lines.count(-1), lines.count(1)
    further = sum(number > 1 for number in lines)
    assert near > at_the_hole > 0
    assert near > further > 0
