"""Fills that read code of other files: when they do, and what is read again while typing."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from cancel_when import cancelling
from toy_causal import DECODINGS, save_toy, silence_layers, toy_causal_model, toy_fill, toy_filler
from toy_causal_fill import run_fill

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.backbone.interface import SHORT_CHUNK
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.reading_speed import ReadingSpeed
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import (
    ContextChunk,
    Decoding,
    Fill,
    Prefetch,
    ProjectContext,
)

HEAD = "import os\n\n\ndef f(a):\n    x = 1\n"
SUFFIX = "\n    return x\n" * 20


def project(text: str = "def other(val): return val\n" * 4) -> ProjectContext:
    chunk = ContextChunk(path="pkg/other.py", text=text)
    return ProjectContext(repository="pkg", path="pkg/f.py", chunks=(chunk,))


def fill(typed: str = "", **fields: Any) -> Fill:
    options: dict[str, Any] = {"project": project()} | fields
    return toy_fill(prefix=HEAD + typed, suffix=SUFFIX, **options)


@pytest.fixture
def filler(toy: Path, adapter: Path, monkeypatch: pytest.MonkeyPatch) -> MaskedCausalFiller:
    """Reads six tokens within the time that a fill may wait."""
    monkeypatch.setattr(ReadingSpeed, "tokens_per_s", 100.0)
    return toy_filler(toy, adapter, max_context_tokens=512)


def placed(**fields: Any) -> Prefetch:
    options: dict[str, Any] = {"project": project()} | fields
    return Prefetch(prefix=HEAD, suffix=SUFFIX, **options)


def test_the_prompt_does_not_depend_on_how_it_came_to_be_read(
    filler: MaskedCausalFiller, toy: Path, adapter: Path
) -> None:
    cold = run_fill(toy_filler(toy, adapter, max_context_tokens=512), fill(project_use="always"))
    filler.prefetch(placed(), NO_CONTROL)
    warm = run_fill(filler, fill())
    assert (warm.text, warm.num_project) == (cold.text, cold.num_project)


def test_unread_a_fill_does_not_wait_for_it(filler: MaskedCausalFiller) -> None:
    first = run_fill(filler, fill())
    assert first.num_project == 0
    assert first.text == run_fill(filler, fill(project=None)).text


def test_where_reading_is_cheap_it_is_read_at_once(filler: MaskedCausalFiller, monkeypatch):
    monkeypatch.setattr(ReadingSpeed, "tokens_per_s", 100_000.0)
    assert run_fill(filler, fill()).num_project > 0


def test_idle_time_reads_the_own_window_first_and_then_the_larger_context(
    filler: MaskedCausalFiller,
) -> None:
    filler.prefetch(placed(), NO_CONTROL)
    own = run_fill(filler, fill(project=None))
    whole = run_fill(filler, fill())
    assert (own.num_prefilled, whole.num_prefilled) == (0, 0)
    assert whole.num_project > 0


@pytest.mark.parametrize("num_chunks", [0, 1, 6])
def test_a_request_ends_it_within_a_chunk_and_is_answered_from_what_is_read(
    filler: MaskedCausalFiller, num_chunks: int
) -> None:
    asked = iter(range(99))
    with pytest.raises(Cancelled):
        filler.prefetch(placed(), cancelling(lambda: next(asked) == num_chunks))
    num_held = filler.cached_tokens()
    assert num_held <= num_chunks * SHORT_CHUNK
    filled = run_fill(filler, fill())
    assert filled.num_prefilled <= max(0, len(HEAD + SUFFIX) - num_held) + SHORT_CHUNK


@pytest.mark.parametrize("decoding", DECODINGS)
def test_typing_reads_nothing_again_with_chunks_as_without(
    filler: MaskedCausalFiller, decoding: Decoding
) -> None:
    typed = "    y = 1\n    z = f(val)"
    filler.prefetch(placed(), NO_CONTROL)
    keys = [
        run_fill(filler, fill(typed[:end], decoding=decoding)) for end in range(1, len(typed) + 1)
    ]
    assert all(key.num_project for key in keys)
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
def test_chunks_of_another_file_or_repository_never_serve(
    filler: MaskedCausalFiller, change: dict[str, str]
) -> None:
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
def test_a_fill_in_the_background_reads_in_short_chunks(
    filler: MaskedCausalFiller, is_background: bool
) -> None:
    held: list[int] = []
    control = FillControl(checkpoint=lambda: held.append(len(filler._context.cache)))
    filler.fill(fill(project=None, is_background=is_background, max_tokens=1), control)
    assert (SHORT_CHUNK in held) == is_background
