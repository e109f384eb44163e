"""Training holes: what they are cut from, how often which kind, and that a seed decides."""

from collections import Counter

from repository_files import functions, source_file

from intarsia.training.draw_holes import (
    KIND_WEIGHTS,
    MAX_FURTHER_LINES,
    MAX_HOLE_CHARS,
    MAX_PREFIX_CHARS,
    MAX_SPAN_LINES,
    MAX_SUFFIX_CHARS,
    draw_holes,
)

NAMES = [f"name{n}" for n in range(60)]
TEXT = functions(*NAMES)
FILES = [source_file(functions(*NAMES[n:]), path=f"{n}.py") for n in (0, 5, 10)]


def test_a_hole_and_what_is_round_it_are_a_stretch_of_the_file():
    for hole in draw_holes(FILES, seed=1, per_file=50):
        assert hole.prefix + hole.hole + hole.suffix in TEXT
        assert hole.hole.strip()
        assert len(hole.prefix) <= MAX_PREFIX_CHARS
        assert len(hole.suffix) <= MAX_SUFFIX_CHARS
        assert len(hole.hole) <= MAX_HOLE_CHARS
        assert (hole.language, hole.package) == ("python", "small")


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
    files = [source_file(f"# {n}\n{TEXT}", path=f"{n}.py") for n in range(30)]
    counts = Counter(hole.kind for hole in draw_holes(files, seed=1, per_file=40))
    total = sum(counts.values())
    for kind, weight in KIND_WEIGHTS.items():
        assert abs(counts[kind] / total - weight) < 0.05, kind


def test_no_hole_is_drawn_twice():
    text = functions("only")
    holes = list(draw_holes([source_file(text)], seed=1, per_file=10_000))
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
    files = [source_file(text) for text in ("", "\n\n", "def (:\n", "}}}}((((")]
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
