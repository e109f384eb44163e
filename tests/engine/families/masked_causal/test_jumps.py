"""Going elsewhere and coming back: counts of the tokens that are read again."""

from pathlib import Path

import msgspec
import pytest
from toy_causal import toy_fill, toy_filler
from toy_causal_fill import run_fill

from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.ipc.messages import Fill

WINDOW = 110
"""Characters of a file before and after the hole that a request has, as the server cuts them."""


def source(name: str, num_functions: int = 30) -> str:
    return "".join(
        f"def {name}_{n}(a, b):\n    c = a * {n} + b\n    return c - {n}\n\n\n"
        for n in range(num_functions)
    )


def at(text: str, function: int, *, typed: str = "") -> Fill:
    """Return the request at the end of a function's first line; windows begin at a function."""
    start = text.index("\n    return", _offset(text, function))
    first = text.rfind("def ", 0, max(0, start - WINDOW) + 4)
    return toy_fill(text[max(0, first) : start] + typed, text[start:][:WINDOW], max_tokens=2)


def _offset(text: str, function: int) -> int:
    offset = 0
    for _ in range(function):
        offset = text.index("def ", offset) + 4
    return text.index("def ", offset)


@pytest.fixture
def filler(toy: Path) -> MaskedCausalFiller:
    return toy_filler(toy, max_context_tokens=500, cache_tokens=6_000)


def num_read(filler: MaskedCausalFiller, request: Fill) -> int:
    return run_fill(filler, request).num_prefilled


def test_back_in_the_same_place_nothing_is_read(filler: MaskedCausalFiller) -> None:
    text = source("f")
    assert num_read(filler, at(text, 5)) > 60
    assert num_read(filler, at(text, 20)) > 60, "another part of the file"
    assert num_read(filler, at(text, 6)) > 0, "a place nearby"
    for function in (5, 20, 6, 5):
        assert num_read(filler, at(text, function)) == 0


def test_nor_is_anything_after_typing_and_undoing_elsewhere(filler: MaskedCausalFiller) -> None:
    text = source("f")
    num_read(filler, at(text, 5))
    for typed in ("", "\n    d", "\n    d = c\n    e", "\n    d = c\n    e = d", "\n    d"):
        num_read(filler, at(text, 20, typed=typed))
    assert num_read(filler, at(text, 5)) == 0


def test_back_in_a_file_after_much_work_in_another_nothing_is_read(
    filler: MaskedCausalFiller,
) -> None:
    """Each change of the other file's suffix is a boundary of its own: these put out no other."""
    text, other = source("f"), source("other")
    num_read(filler, at(text, 5))
    for n in range(80):
        num_read(filler, at(other.replace("- 21", f"- {n}"), 20))
    assert filler.cached_tokens() <= 6_000
    assert num_read(filler, at(text, 5)) == 0


def test_an_edit_below_costs_the_suffix_only(filler: MaskedCausalFiller) -> None:
    text = source("f")
    whole = num_read(filler, at(text, 5))
    edited = text.replace("return c - 6", "return c + 6")
    assert 0 < num_read(filler, at(edited, 5)) < 0.75 * whole
    assert num_read(filler, at(text, 5)) == 0, "and going back costs nothing"


def test_a_context_that_lost_its_end_is_still_shared(filler: MaskedCausalFiller) -> None:
    text = source("f")
    line = "\n    total = a + b\n    rest = a - b"
    num_read(filler, at(text, 5, typed=line))
    num_read(filler, at(text, 5, typed="\n    total"))  # it is taken over, and loses the line
    num_read(filler, at(text, 20))
    assert num_read(filler, at(text, 5, typed=line)) < len(line)


def test_a_jump_of_some_lines_reads_what_differs(filler: MaskedCausalFiller) -> None:
    text = source("f")
    whole = num_read(filler, at(text, 5))
    above, below = at(text, 5), at(text, 6)
    lines = text[text.index(above.suffix) : text.index(below.suffix)]
    with_the_same_start = msgspec.structs.replace(below, prefix=above.prefix + lines)
    assert num_read(filler, with_the_same_start) < 0.9 * whole


@pytest.mark.parametrize("num_files", [3, 12])
def test_a_tour_of_files_reads_each_once(num_files: int, filler: MaskedCausalFiller) -> None:
    texts = [source(f"name{n}") for n in range(num_files)]
    for text in texts:
        assert num_read(filler, at(text, 5)) > 60
    for text in [*reversed(texts), *texts]:
        assert num_read(filler, at(text, 5)) == 0


def test_the_budget_holds_all_the_same(toy: Path) -> None:
    filler = toy_filler(toy, max_context_tokens=500, cache_tokens=1_000)
    for n in range(20):
        num_read(filler, at(source(f"name{n}"), 5))
        assert filler.cached_tokens() <= 1_000
