"""Where a context ends: nothing is read again while a few lines change, and no token is cut."""

from pathlib import Path

import pytest
from cancel_when import cancelling
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_causal import DECODINGS, toy_fill, toy_filler
from toy_causal_fill import run_fill

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.backbone.interface import SHORT_CHUNK
from intarsia.engine.families.masked_causal.context_boundary import (
    MAX_CHARS_AFTER,
    ContextBoundaries,
    ContextBoundary,
    boundary_offset,
)
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Decoding, Fill, Prefetch

HEAD = "import os\n\n\ndef f(a):\n    x = 1\n"
SUFFIX = "\n    return x\n"


def boundary(prefix: str, suffix: str = SUFFIX) -> ContextBoundary:
    return ContextBoundary(prefix=prefix, suffix=suffix, context=[])


def text_after(prefix: str) -> str | None:
    offset = boundary_offset(prefix)
    return None if offset is None else prefix[offset:]


@pytest.mark.parametrize(
    ("prefix", "after"),
    [
        (HEAD + "    y = ", "    x = 1\n    y = "),
        (HEAD, "    x = 1\n"),
        (HEAD + "\n  \n", "    x = 1\n\n  \n"),
        ("imp", None),  # something is left before it
        ("\n\nimp", "imp"),
        ("import os\nimp", "imp"),
        ("", None),
        ("x" * 300 + "\ny", "y"),
        ("a\n" + "x" * 300, None),  # in a long line there is none
    ],
)
def test_the_line_above_the_cursor_is_after_a_new_boundary(prefix: str, after: str | None) -> None:
    assert text_after(prefix) == after


@given(st.text(alphabet="a \n\t", max_size=40))
def test_the_text_after_it_begins_with_no_blank_line(prefix: str) -> None:
    text = text_after(prefix) or ""
    assert "\n" not in text[: len(text) - len(text.lstrip())]


class TestFind:
    """Which boundary is used for a prefix."""

    def test_typing_and_deleting_after_it_keep_it(self) -> None:
        boundaries = ContextBoundaries()
        boundaries.remember(boundary(HEAD))
        for typed in ("", "    ", "    y = 1\n\n    z", "    y"):
            found = boundaries.find(HEAD + typed, SUFFIX)
            assert found is not None
            assert found.text_after == typed

    def test_the_nearest_is_taken(self) -> None:
        boundaries = ContextBoundaries()
        for prefix in (HEAD, HEAD + "    y = 1\n", HEAD[:10]):
            boundaries.remember(boundary(prefix))
        found = boundaries.find(HEAD + "    y = 1\n    z", SUFFIX)
        assert found is not None
        assert found.text_after == "    z"

    @pytest.mark.parametrize(
        ("prefix", "suffix"),
        [
            (HEAD, SUFFIX + "#"),
            (HEAD[:-2], SUFFIX),
            (HEAD.replace("x", "y"), SUFFIX),
            (HEAD + "a" * (MAX_CHARS_AFTER + 1), SUFFIX),
            (HEAD + "  \n", SUFFIX),  # one token with the line end before it
        ],
    )
    def test_another_text_finds_none(self, prefix: str, suffix: str) -> None:
        boundaries = ContextBoundaries()
        boundaries.remember(boundary(HEAD))
        assert boundaries.find(prefix, suffix) is None

    def test_the_one_not_used_for_longest_is_forgotten(self) -> None:
        boundaries = ContextBoundaries(max_held=2)
        for prefix in ("a\n", "b\n"):
            boundaries.remember(boundary(prefix))
        assert boundaries.find("a\n", SUFFIX) is not None
        boundaries.remember(boundary("c\n"))
        assert boundaries.find("a\n", SUFFIX) is not None
        assert boundaries.find("b\n", SUFFIX) is None


@pytest.mark.parametrize("decoding", DECODINGS)
def test_typing_reads_neither_prefix_nor_suffix_again(decoding: Decoding, toy: Path, adapter: Path):
    filler = toy_filler(toy, adapter)
    typed = "    y = 1\n    z"
    first = run_fill(filler, toy_fill(prefix=HEAD, suffix=SUFFIX * 20, decoding=decoding))
    for end in range(len(typed)):
        request = toy_fill(prefix=HEAD + typed[:end], suffix=SUFFIX * 20, decoding=decoding)
        assert run_fill(filler, request).num_prefilled <= len(typed)
    assert first.num_prefilled > 100


@settings(max_examples=25)
@given(typed=st.text(alphabet="ab( \n", max_size=30), decoding=st.sampled_from(DECODINGS))
def test_a_kept_boundary_gives_the_text_of_a_fresh_engine(
    toy: Path, adapter: Path, typed: str, decoding: Decoding
) -> None:
    """What was read before changes nothing: only where the context ends does."""
    warm, cold = toy_filler(toy, adapter), toy_filler(toy, adapter)
    run_fill(warm, toy_fill(prefix=HEAD, suffix=SUFFIX, decoding=decoding))
    found = warm._reader._boundaries.find(HEAD + typed, SUFFIX)
    if found is not None:
        cold._reader._boundaries.remember(found.boundary)
    request = toy_fill(prefix=HEAD + typed, suffix=SUFFIX, decoding=decoding)
    assert run_fill(warm, request).text == run_fill(cold, request).text


class TestPrepare:
    """Idle time after a request far after its boundary."""

    def typed(self, num_lines: int) -> Fill:
        return toy_fill(prefix=HEAD + "    return val\n" * num_lines, suffix=SUFFIX * 12)

    def test_the_next_line_finds_its_context_read(self, toy: Path) -> None:
        filler, unprepared = (toy_filler(toy) for _ in range(2))
        for num_lines in (0, 15):  # 225 characters: more than half of what a boundary serves
            run_fill(filler, self.typed(num_lines))
            run_fill(unprepared, self.typed(num_lines))
        filler.prepare(NO_CONTROL)
        warm, cold = run_fill(filler, self.typed(28)), run_fill(unprepared, self.typed(28))
        assert 2 * warm.num_prefilled < cold.num_prefilled

    def test_near_its_boundary_there_is_nothing_to_do(self, toy: Path) -> None:
        filler = toy_filler(toy)
        run_fill(filler, self.typed(0))
        run_fill(filler, self.typed(3))
        num_held = filler.cached_tokens()
        filler.prepare(NO_CONTROL)
        assert filler.cached_tokens() == num_held


class TestPrefetch:
    """The cursor is at a place without a request so far."""

    PLACE = Prefetch(prefix=HEAD, suffix=SUFFIX * 20, given="")

    def test_the_first_request_there_reads_no_more_than_what_was_typed(self, toy: Path) -> None:
        filler, cold = (toy_filler(toy, max_context_tokens=512) for _ in range(2))
        filler.prefetch(self.PLACE, NO_CONTROL)
        request = toy_fill(prefix=HEAD + "    y = ", suffix=SUFFIX * 20)
        ahead, unread = run_fill(filler, request), run_fill(cold, request)
        assert ahead.num_prefilled <= len("    y = ")
        assert unread.num_prefilled > 100

    def test_a_request_ends_it_and_what_it_has_read_is_kept(self, toy: Path) -> None:
        filler, cold = (toy_filler(toy, max_context_tokens=512) for _ in range(2))
        num_asked = iter(range(9))
        with pytest.raises(Cancelled):
            filler.prefetch(self.PLACE, cancelling(lambda: next(num_asked) == 1))
        request = toy_fill(prefix=HEAD, suffix=SUFFIX * 20)
        ahead, unread = run_fill(filler, request), run_fill(cold, request)
        assert ahead.num_reused == SHORT_CHUNK
        assert ahead.text == unread.text


@pytest.mark.parametrize("most", [16, 64])
def test_the_text_after_it_counts_towards_the_limit(toy: Path, most: int) -> None:
    filler = toy_filler(toy, max_context_tokens=most)
    filled = run_fill(filler, toy_fill(prefix="é漢\n" * 60, suffix=SUFFIX * 9, max_tokens=8))
    assert filled.num_prefilled <= most + most // 2 + 3


def test_a_huge_text_is_not_held(toy: Path) -> None:
    boundaries = ContextBoundaries()
    boundaries.remember(boundary("x\n" * 200_000))
    assert boundaries.find("x\n" * 200_000 + "y", SUFFIX) is None


def test_a_token_may_cover_the_text_after_it_and_given_text(toy: Path) -> None:
    """An editor's cursor in "re|" of "return": "r" is after the boundary, "e" is given."""
    split, whole = toy_filler(toy), toy_filler(toy)
    first = run_fill(split, toy_fill(prefix=HEAD + "    r", given="e", suffix=SUFFIX))
    second = run_fill(whole, toy_fill(prefix=HEAD + "    ", given="re", suffix=SUFFIX))
    assert first.text == second.text
    assert split._context.cache.ids == whole._context.cache.ids
