"""Where a context ends, and when it has code of other files: what is read again while typing."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from cancel_when import cancelling
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_causal import DECODINGS, save_toy, silence_layers, toy_causal_model, toy_fill, toy_filler
from toy_causal_fill import run_fill

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.backbone.interface import SHORT_CHUNK
from intarsia.engine.families.masked_causal.context_boundary import (
    MAX_CHARS_AFTER,
    ContextBoundaries,
    ContextBoundary,
    boundary_offset,
)
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.protocol import ReadingSpeed
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import ContextChunk, Fill, Prefetch, ProjectContext

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
            assert found.text_after == typed

    def test_the_nearest_is_taken(self) -> None:
        boundaries = ContextBoundaries()
        for prefix in (HEAD, HEAD + "    y = 1\n", HEAD[:10]):
            boundaries.remember(boundary(prefix))
        found = boundaries.find(HEAD + "    y = 1\n    z", SUFFIX)
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


@settings(max_examples=25)
@given(typed=st.text(alphabet="ab( \n", max_size=30), decoding=st.sampled_from(DECODINGS))
def test_a_kept_boundary_gives_the_text_of_a_fresh_engine(toy, drafter, typed, decoding):
    """What was read before changes nothing: only where the context ends does."""
    warm, cold = toy_filler(toy, drafter), toy_filler(toy, drafter)
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


SUFFIX_BELOW = "\n    return x\n" * 20


def project(text: str = "def other(val): return val\n" * 4) -> ProjectContext:
    chunk = ContextChunk(path="pkg/other.py", text=text)
    return ProjectContext(repository="pkg", path="pkg/f.py", chunks=(chunk,))


def fill(typed: str = "", **fields: Any) -> Fill:
    options: dict[str, Any] = {"project": project()} | fields
    return toy_fill(prefix=HEAD + typed, suffix=SUFFIX_BELOW, **options)


@pytest.fixture
def filler(toy: Path, drafter: Path, monkeypatch: pytest.MonkeyPatch) -> MaskedCausalFiller:
    """Reads six tokens within the time that a fill may wait."""
    monkeypatch.setattr(ReadingSpeed, "tokens_per_s", 100.0)
    return toy_filler(toy, drafter, max_context_tokens=512)


def placed(**fields: Any) -> Prefetch:
    options: dict[str, Any] = {"project": project()} | fields
    return Prefetch(prefix=HEAD, suffix=SUFFIX_BELOW, **options)


def test_the_prompt_does_not_depend_on_how_it_came_to_be_read(filler, toy, drafter):
    cold = run_fill(toy_filler(toy, drafter, max_context_tokens=512), fill(project_use="always"))
    filler.prefetch(placed(), NO_CONTROL)
    warm = run_fill(filler, fill())
    assert (warm.text, warm.num_project) == (cold.text, cold.num_project)


def test_unread_a_fill_does_not_wait_for_it(filler: MaskedCausalFiller) -> None:
    first = run_fill(filler, fill())
    assert first.num_project == 0
    assert first.text == run_fill(filler, fill(project=None)).text


def test_what_a_fill_did_not_wait_for_is_read_between_two_keys(filler: MaskedCausalFiller) -> None:
    assert not filler.is_behind
    first = run_fill(filler, fill("    y"))
    assert (first.num_project, filler.is_behind) == (0, True)
    asked = iter(range(9))
    with pytest.raises(Cancelled):  # the next key
        filler.prepare(cancelling(lambda: next(asked) == 1))
    assert filler.is_behind
    assert (run_fill(filler, fill("    y =")).num_project, filler.is_behind) == (0, True)
    filler.prepare(NO_CONTROL)
    second = run_fill(filler, fill("    y = "))
    assert (second.num_project > 0, second.num_prefilled <= 5, filler.is_behind) == (
        True,
        True,
        False,
    )


def test_where_reading_is_cheap_it_is_read_at_once(filler: MaskedCausalFiller, monkeypatch):
    monkeypatch.setattr(ReadingSpeed, "tokens_per_s", 100_000.0)
    assert run_fill(filler, fill()).num_project > 0


def test_idle_time_reads_the_own_window_first_and_then_the_larger_context(filler):
    filler.prefetch(placed(), NO_CONTROL)
    own = run_fill(filler, fill(project=None))
    whole = run_fill(filler, fill())
    assert (own.num_prefilled, whole.num_prefilled) == (0, 0)
    assert whole.num_project > 0


@pytest.mark.parametrize("num_chunks", [0, 1, 6])
def test_a_request_ends_it_within_a_chunk_and_is_answered_from_what_is_read(filler, num_chunks):
    asked = iter(range(99))
    with pytest.raises(Cancelled):
        filler.prefetch(placed(), cancelling(lambda: next(asked) == num_chunks))
    num_held = filler.cached_tokens()
    assert num_held <= num_chunks * SHORT_CHUNK
    filled = run_fill(filler, fill())
    assert filled.num_prefilled <= max(0, len(HEAD + SUFFIX_BELOW) - num_held) + SHORT_CHUNK


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("has_project", [True, False])
def test_typing_reads_nothing_again_with_chunks_as_without(filler, decoding, has_project):
    typed = "    y = 1\n    z = f(val)"
    fields: dict[str, Any] = {"project": project() if has_project else None}
    filler.prefetch(placed(**fields), NO_CONTROL)
    keys = [
        run_fill(filler, fill(typed[:end], decoding=decoding, **fields))
        for end in range(1, len(typed) + 1)
    ]
    assert all(bool(key.num_project) == has_project for key in keys)
    num_reused = sum(key.num_reused for key in keys)
    assert num_reused >= 0.98 * (num_reused + sum(key.num_prefilled for key in keys))


def test_a_boundary_belongs_to_one_project_context(filler: MaskedCausalFiller) -> None:
    for text in ("x = 1\n" * 9, "y = 2\n" * 9):
        first = run_fill(filler, fill(project=project(text), project_use="always"))
        again = run_fill(filler, fill("    y", project=project(text), project_use="always"))
        assert first.num_prefilled > 100
        assert again.num_prefilled <= 5


def test_until_new_chunks_are_read_the_earlier_ones_serve(filler: MaskedCausalFiller) -> None:
    first, second = project(), project("class New: pass\n" * 4)
    filler.prefetch(placed(project=first), NO_CONTROL)
    earlier = run_fill(filler, fill(project=second))
    assert earlier.text == run_fill(filler, fill(project=first)).text
    assert (earlier.num_project > 0, earlier.num_prefilled) == (True, 0)
    asked = iter(range(9))
    with pytest.raises(Cancelled):
        filler.prefetch(placed(project=second), cancelling(lambda: next(asked) == 1))
    assert run_fill(filler, fill(project=second)).text == earlier.text
    filler.prefetch(placed(project=second), NO_CONTROL)
    now = run_fill(filler, fill(project=second))
    assert now.num_prefilled == 0
    assert now.text == run_fill(filler, fill(project=second, project_use="always")).text


@pytest.mark.parametrize("change", [{"path": "pkg/other.py"}, {"repository": "another"}])
def test_chunks_of_another_file_or_repository_never_serve(filler, change):
    other = msgspec.structs.replace(project("y = 2\n"), **change)
    filler.prefetch(placed(project=other), NO_CONTROL)
    assert run_fill(filler, fill()).num_project == 0
    assert run_fill(filler, fill(project=None)).num_project == 0


def test_chunks_take_no_room_from_prefix_and_suffix(filler: MaskedCausalFiller) -> None:
    long = "é漢\n" * 200
    own = run_fill(filler, toy_fill(prefix=long, suffix=long))
    whole = run_fill(
        filler, toy_fill(prefix=long, suffix=long, project=project(), project_use="always")
    )
    assert (own.num_project, whole.num_project > 40) == (0, True)
    assert whole.num_prefilled == own.num_prefilled + whole.num_project


def test_too_much_is_cut_to_its_share(filler: MaskedCausalFiller) -> None:
    chunks = tuple(ContextChunk(path=f"{n}.py", text="x = 1\n" * 6) for n in range(9))
    many = ProjectContext(repository="pkg", path="pkg/f.py", chunks=chunks)
    filled = run_fill(filler, fill(project=many, project_use="always"))
    assert 64 < filled.num_project <= 128


def test_where_both_contexts_say_the_same_that_draft_takes_one_pass(tmp_path: Path, monkeypatch):
    """A toy without layers: the last token alone decides, whatever was read."""
    model = toy_causal_model("llama", is_tied=False)
    silence_layers(model)
    filler = toy_filler(save_toy(tmp_path, model), max_context_tokens=512)
    monkeypatch.setattr(ReadingSpeed, "tokens_per_s", 100.0)
    fields: dict[str, Any] = {"fresh": False, "max_tokens": 20}
    first = run_fill(filler, fill(**fields))
    filler.prefetch(placed(), NO_CONTROL)
    second = run_fill(filler, fill(**fields))
    assert (first.num_project, second.num_project > 0) == (0, True)
    assert second.text == first.text
    assert (len(second.tokens), second.num_forwards) == (20, 1)
    assert first.num_forwards > 1


@pytest.mark.parametrize("is_background", [False, True])
def test_a_fill_in_the_background_reads_in_short_chunks(filler, is_background):
    held: list[int] = []
    control = FillControl(checkpoint=lambda: held.append(len(filler._context.cache)))
    filler.fill(fill(project=None, is_background=is_background, max_tokens=1), control)
    assert (SHORT_CHUNK in held) == is_background
