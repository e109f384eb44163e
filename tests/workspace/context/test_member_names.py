"""All names that may follow a dot: known where a type is read whole, else none are told."""

import tomllib
from pathlib import Path

import pytest
from context_places import HOLE, place_in, workspace

from intarsia.workspace.context.member_names import member_names

DRAWN = tomllib.loads(Path(__file__).with_name("member_names.toml").read_text(encoding="utf-8"))


def names_at(code: str, path: str = "main.py") -> set[str]:
    """Return the names after ``code``, without those that all classes have."""
    head = {
        "main.py": "from lib import User, Colour, Row, Any_, Made, Pair, Kept, make\n",
        "main.ts": 'import { User, Store, Options, Both, Free, Keyed } from "./lib";\n',
    }
    files = {
        "lib.py": DRAWN["python"]["library"],
        "lib.ts": DRAWN["typescript"]["library"],
        path: f"{head[path]}{code}{HOLE}\n",
    }
    place = place_in(path, files[path])
    members_of = place.language.library_members
    assert members_of is not None
    found = {it for it in member_names(workspace(files), place) if not it.startswith("__")}
    return found - {*(members_of("") or ())}


@pytest.mark.parametrize(
    ("path", "code", "names"),
    [(table["path"], *case) for table in DRAWN.values() for case in table["cases"]],
)
def test_the_names_after_a_dot_are_those_that_are_drawn(path: str, code: str, names: list[str]):
    assert names_at(code, path) == set(names)


def test_the_members_of_an_enum_are_those_of_its_base_too():
    assert {"RED", "value", "upper"} <= names_at("Colour.")


def test_a_class_with_private_members_and_parameters_that_are_members():
    found = names_at("const f = (it: Store) => it.", "main.ts")
    assert {"a", "host", "c"} <= found
