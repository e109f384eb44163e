"""What holds for every place: budget, roots, secrets, the file itself, order, determinism."""

import random

import pytest
from context_places import HOLE, ROOT, chosen, place_in, workspace
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.workspace.context.choose import READING_ORDER, choose_chunks
from intarsia.workspace.context.options import ChunkOptions
from intarsia.workspace.context.passage import KnownLines, known_lines, split_lines
from intarsia.workspace.context.place import RecentEdit
from intarsia.workspace.context.stability import num_chars

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

    assert num_chars(chunks) <= options.budget_chars
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
