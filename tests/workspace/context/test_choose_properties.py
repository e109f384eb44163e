"""What holds for every place, and how a set of chunks stays while a file is edited."""

import random

import pytest
from context_places import HOLE, ROOT, chosen, place_in, workspace
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.infill.canvas import budget_chars
from intarsia.workspace.context.choose import READING_ORDER, choose_chunks
from intarsia.workspace.context.chunk import Chunk, ChunkOptions, RecentEdit
from intarsia.workspace.context.passage import KnownLines, known_lines, split_lines
from intarsia.workspace.context.stability import (
    MAX_LINES_AWAY,
    ChosenContext,
    context_for,
    is_still_good,
    merged,
    needs_of,
    num_chars,
)

NAMES = ("user", "session", "order_total", "parseHeader", "Invoice", "Client", "load_rows")
PATHS = ("lib.py", "app/__init__.py", "app/orders.py", "test_main.py", "src/client.ts", ".env")

lines = st.sampled_from(
    [
        *(f"def {name}(value: int, other: str = '') -> {NAMES[4]}:" for name in NAMES),
        *(f"    {name} = {name}(value)" for name in NAMES),
        *(f"class {name}(Client):" for name in NAMES),
        *(f"from lib import {name}" for name in NAMES),
        *(f"from app import {name} as {name}_again" for name in NAMES),
        "from app.orders import *",
        "import app.orders",
        "    @property",
        "    def total_of_all(self) -> Client: return self.order_total",
        "    return user.session.order_total",
        "export class Client extends Invoice { load(rows: number): User { return rows } }",
        "import { Client } from './client';",
        "\t\t", "", "}", "(", '"""', "\ufeff", "\u2028é漢\r", "x" * 300,
    ]
)  # fmt: skip
texts = st.lists(lines, max_size=25).map("\n".join)
workspaces = st.dictionaries(st.sampled_from(PATHS), texts, max_size=len(PATHS))
holes = st.tuples(texts, texts).map(lambda both: f"{both[0]}\nuser.{HOLE}\n{both[1]}")
budgets = st.sampled_from([0, 1, 30, 120, 500])


def edits_of(files: dict[str, str]) -> tuple[RecentEdit, ...]:
    return tuple(
        RecentEdit(path=f"{ROOT}/{path}", text=text + "\nuser", start_line=1, end_line=900)
        for path, text in files.items()
    )


@settings(max_examples=60)
@given(workspaces, holes, budgets)
def test_every_choice_keeps_the_promises(files: dict[str, str], text: str, budget: int) -> None:
    files = {**files, "main.py": text}
    options = ChunkOptions(budget_tokens=budget)
    place = place_in("main.py", text, edits=edits_of(files))
    chunks = choose_chunks(workspace(files), place, options)

    assert num_chars(chunks) <= budget_chars(budget)
    assert {one.path for one in chunks} <= set(PATHS) - {".env"}
    kinds = [READING_ORDER.index(one.kind) for one in chunks]
    assert kinds == sorted(kinds)
    known = known_lines(place.text)
    for one in chunks:
        assert one.text == one.text.strip("\n")
        assert one.text.strip()
        assert not known.has_most_of(one.text.split("\n"))
        assert "\r" not in one.text
    assert chunks == choose_chunks(workspace(files), place, options)


@settings(max_examples=30)
@given(workspaces, holes)
def test_no_signature_repeats_a_line_of_the_file(files: dict[str, str], text: str) -> None:
    files = {**files, "main.py": text}
    known = known_lines(text.replace(HOLE, ""))
    for one in chosen(files, "main.py", "signatures", "members"):
        shown = [line for line in one.text.split("\n") if "class " not in line]
        assert not any(known.has(line) for line in shown)


@settings(max_examples=30)
@given(workspaces, holes)
def test_chunks_of_one_choice_do_not_repeat_each_other(files: dict[str, str], text: str) -> None:
    files = {**files, "main.py": text}
    chunks = chosen(files, "main.py", "similar", "sibling", "recent_edit", edits=edits_of(files))
    seen = KnownLines(lines=frozenset())
    for one in sorted(chunks, key=lambda one: -READING_ORDER.index(one.kind)):  # as taken
        assert not seen.has_most_of(split_lines(one.text)) or not seen.lines
        seen = seen.with_text(one.text)


@pytest.mark.timeout(20)
def test_odd_and_huge_files_do_no_harm() -> None:
    rng = random.Random(0)
    characters = list(map(chr, (0, 10, 32, 40, 46, 65, 0xD800, 0x1F600)))
    noise = "".join(rng.choices(characters, k=20_000))
    names = "from stars import a, b\nfrom lib import c"
    files = {
        "lib.py": noise,
        "stars.py": "\n".join(f"from stars{n} import *" for n in range(60)),
        **{f"stars{n}.py": "\n".join(f"from stars{m} import *" for m in range(60))
           for n in range(60)},
        "main.py": f"{names}\n{noise}\na.{HOLE}\n" + "x = 1\n" * 50_000,
    }  # fmt: skip
    chosen(files, "main.py")


LIBRARY = "def load(path):\n    pass\n\n\ndef save(path):\n    pass\n"
MAIN = f"from library import load, save\n\nrows = load({HOLE})\n"


def choose(text: str, previous: ChosenContext | None = None, **extra: object) -> ChosenContext:
    index = workspace({"library.py": LIBRARY, "main.py": text})
    place = place_in("main.py", text, **extra)
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
