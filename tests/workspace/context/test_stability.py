"""A set of chunks stays while a file is edited, and a new one begins like the former."""

from context_places import HOLE, place_in, workspace

from intarsia.workspace.context.chunk import Chunk
from intarsia.workspace.context.options import ChunkOptions
from intarsia.workspace.context.place import RecentEdit
from intarsia.workspace.context.stability import (
    MAX_LINES_AWAY,
    ChosenContext,
    context_for,
    is_still_good,
    merged,
    needs_of,
)

LIBRARY = "def load(path):\n    pass\n\n\ndef save(path):\n    pass\n"
MAIN = f"from library import load, save\n\nrows = load({HOLE})\n"


def choose(text: str, previous: ChosenContext | None = None, **extra: object) -> ChosenContext:
    index = workspace({"library.py": LIBRARY, "main.py": text})
    place = place_in("main.py", text, **extra)  # type: ignore[arg-type]
    return context_for(index, place, ChunkOptions(), previous)


def test_typing_on_keeps_the_very_same_set() -> None:
    first = choose(MAIN)
    assert first.chunks
    typed = MAIN.replace(HOLE, f"'rows.csv'{HOLE}")
    assert choose(typed, first) is first
    assert choose(typed.replace("rows = ", "all_rows = "), first) is first


def test_an_imported_name_that_the_set_shows_may_be_mentioned() -> None:
    first = choose(MAIN)
    assert "def save" in first.chunks[0].text
    assert choose(MAIN.replace(f"({HOLE})", f"()\nsave({HOLE})"), first) is first


def test_other_imports_choose_again() -> None:
    first = choose(MAIN)
    other = MAIN.replace("import load, save", "import load")
    assert choose(other, first) is not first


def test_a_new_name_near_the_hole_that_is_not_shown_chooses_again() -> None:
    text = MAIN.replace(f"({HOLE})", "()" + "\n" * 40 + HOLE)
    far = needs_of(place_in("main.py", text))
    near = needs_of(place_in("main.py", MAIN))
    assert near.mentioned == {"load", "save"}
    assert not far.mentioned
    empty = ChosenContext(chunks=(), needs=far)
    assert not is_still_good(empty, near)
    shown = Chunk(path="library.py", text="def load(): ...\nsave", kind="signatures", reason="")
    assert is_still_good(ChosenContext(chunks=(shown,), needs=far), near)


def test_a_hole_far_away_chooses_again() -> None:
    first = choose(MAIN)
    far = MAIN.replace(HOLE, "") + "\n" * (MAX_LINES_AWAY + 1) + f"load({HOLE})\n"
    assert choose(far, first) is not first


def test_an_edit_in_another_file_chooses_again_and_the_same_edit_does_not() -> None:
    first = choose(MAIN)
    edit = RecentEdit(path="/work/app/library.py", text=LIBRARY, start_line=0, end_line=1)
    second = choose(MAIN, first, edits=(edit,))
    assert second is not first
    moved = RecentEdit(path=edit.path, text="\n" + LIBRARY, start_line=1, end_line=2)
    assert choose(MAIN, second, edits=(moved,)) is second


def test_another_file_starts_from_nothing() -> None:
    first = choose(MAIN)
    index = workspace({"library.py": LIBRARY, "other.py": MAIN})
    other = context_for(index, place_in("other.py", MAIN), ChunkOptions(), first)
    assert other is not first


def chunk(path: str, *lines: str) -> Chunk:
    return Chunk(path=path, text="\n".join(lines), kind="signatures", reason="")


def test_the_unchanged_beginning_keeps_its_place() -> None:
    a, b, c, d = (chunk(f"{name}.py", f"{name} = 1") for name in "abcd")
    assert merged((a, b, c), (d, b, a), ChunkOptions()) == (a, b, d)
    assert merged((a, b), (c, d), ChunkOptions()) == (c, d)
    assert merged((), (c, d), ChunkOptions()) == (c, d)


def test_a_chunk_that_shows_more_of_its_file_stays_as_it_was() -> None:
    more, less = chunk("a.py", "one", "two"), chunk("a.py", "two")
    new = chunk("b.py", "three")
    assert merged((more,), (new, less), ChunkOptions()) == (more, new)
    assert merged((less,), (new, more), ChunkOptions()) == (new, more)


def test_the_budget_holds_after_merging() -> None:
    more, less = chunk("a.py", "x" * 60, "two"), chunk("a.py", "two")
    new = chunk("b.py", "y" * 20)
    small = ChunkOptions(budget_tokens=20)
    assert merged((more,), (new, less), small) == (new, less)
