"""Definitions and imports in the other languages: of real files, and all that each can say."""

import tomllib
from pathlib import Path

import pytest
from drawn_symbols import draw_definitions, draw_imports, symbols_of

from intarsia.infill.languages import language_for_id
from intarsia.workspace.symbols.extract import extract_symbols

HERE = Path(__file__).parent
REAL = tomllib.loads((HERE / "real_files.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", REAL)
def test_a_real_file(path: str) -> None:
    expected = REAL[path]
    symbols = symbols_of(path)
    assert draw_definitions(symbols)[: len(expected["definitions"])] == expected["definitions"]
    assert draw_imports(symbols)[: len(expected["imports"])] == expected["imports"]


@pytest.mark.parametrize("path", sorted((HERE / "cases").iterdir()), ids=lambda path: path.stem)
def test_all_that_a_language_can_say(path: Path) -> None:
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    symbols = extract_symbols(case["text"], language_for_id(path.stem))
    assert draw_definitions(symbols) == case["definitions"]
    assert draw_imports(symbols) == case["imports"]
    bases = {one.name: list(one.bases) for one in symbols.definitions if one.bases}
    assert bases == case["bases"]
