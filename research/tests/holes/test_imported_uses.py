"""Which uses of imported names are found, and which are not."""

import tomllib
from pathlib import Path

import pytest

from intarsia_research.holes.imported_uses import Package

DRAWN = tomllib.loads(Path(__file__).with_name("imported_uses.toml").read_text(encoding="utf-8"))
PYTHON, TYPESCRIPT = DRAWN["python"]["files"], DRAWN["typescript"]["files"]


def uses(texts: dict[str, str], path: str) -> list[tuple[str, int, str]]:
    """Return name, line (from 1) and defining file of each use."""
    found = Package(texts).uses(path).uses
    return [(use.name, texts[path].count("\n", 0, use.start) + 1, use.defined_in) for use in found]


@pytest.mark.parametrize(("text", "expected"), DRAWN["python"]["texts"]["cases"])
def test_a_name_is_followed_to_the_python_file_that_defines_it(text, expected) -> None:
    assert [[*use] for use in uses({**PYTHON, "pkg/here.py": text}, "pkg/here.py")] == expected


def test_files_that_pass_a_name_round_in_a_circle_define_nothing() -> None:
    texts = {"a.py": "from b import X\nx = X\n", "b.py": "from a import X\n"}
    assert uses(texts, "a.py") == []


@pytest.mark.parametrize(("text", "expected"), DRAWN["typescript"]["texts"]["cases"])
def test_a_name_is_followed_to_the_typescript_file_that_defines_it(text, expected) -> None:
    path = "src/here.ts"
    found = [[name, file] for name, _, file in uses({**TYPESCRIPT, path: text}, path)]
    assert found == expected


def test_imports_are_told_so_that_a_name_in_them_is_no_known_use() -> None:
    text = "import { area } from './shapes';\n\narea(1);\n"
    found = Package({**TYPESCRIPT, "src/here.ts": text}).uses("src/here.ts")
    assert [text[start:end] for start, end in found.imports] == ["import { area } from './shapes';"]


def test_a_language_without_such_a_reader_has_no_uses() -> None:
    assert Package({"a.rs": "use b::C;\n"}).uses("a.rs").uses == ()
