"""Definitions and imports of real files in each language, and of any text at all."""

import time
import tomllib
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_files import REAL_FILES

from intarsia.infill.languages import Language, all_languages, language_for_id, language_for_path
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import FileSymbols


def symbols_of(path: str) -> FileSymbols:
    """Return what a real file defines and imports."""
    return extract_symbols(REAL_FILES[PurePosixPath(path)], language_for_path(path))


def draw_definitions(symbols: FileSymbols) -> list[str]:
    """Draw each definition: its lines, kind, container, signature, and type after a colon."""
    return [
        f"{one.start_line}-{one.end_line} {one.kind} {one.container or '-'} {one.signature}"
        + (f" : {one.type_name}" if one.type_name else "")
        for one in symbols.definitions
    ]


def draw_imports(symbols: FileSymbols) -> list[str]:
    """Draw each import: its line, module, local name, and names."""
    drawn = []
    for one in symbols.imports:
        names = ", ".join(
            name.name if name.name == name.local else f"{name.name} as {name.local}"
            for name in one.names
        )
        local = f" as {one.local}" if one.local else ""
        drawn.append(f"{one.line} {one.module}{local}{': ' + names if names else ''}")
    return drawn


@pytest.mark.parametrize("path", REAL_FILES, ids=str)
def test_lines_of_real_files_are_inside_the_file(path: PurePosixPath) -> None:
    check_lines(REAL_FILES[path], symbols_of(str(path)))


def test_a_declaration_without_its_name_is_no_definition() -> None:
    """The parser repairs ``private autoConnect;`` by a name of no characters."""
    code = "class A {\n  private autoConnect;\n  class {\n    int kept;\n  }\n}\n"
    names = [one.name for one in extract_symbols(code, language_for_id("java")).definitions]
    assert "A" in names and "" not in names


@pytest.mark.parametrize(
    ("heading", "names"),
    [("`one` and `two`", ["`one` and `two`"]), ("`one`", ["one"]), ("'", ["'"]), ("\u3000", [])],
)
def test_a_name_loses_only_quotes_around_all_of_it(heading: str, names: list[str]) -> None:
    symbols = extract_symbols(f"# {heading}\n\nText.\n", language_for_id("markdown"))
    assert [one.name for one in symbols.definitions] == names


@settings(max_examples=200)
@given(language=st.sampled_from(all_languages()), data=st.data())
def test_any_text_has_symbols_inside_the_file(language: Language, data: st.DataObject) -> None:
    """Real code with a piece cut out and another put in, or any characters."""
    folder = language.id.removesuffix("react")
    files = [text for path, text in REAL_FILES.items() if path.parts[0] == folder]
    text = data.draw(st.text())
    if files:
        code = data.draw(st.sampled_from(files))
        start = data.draw(st.integers(0, len(code)))
        end = data.draw(st.integers(start, min(len(code), start + 400)))
        text = code[:start] + text + code[end:]
    check_lines(text, extract_symbols(text, language))


@pytest.mark.parametrize(
    ("language_id", "text"),
    [
        ("typescript", "import {" + "name,\n" * 30_000 + "} from './x'"),
        ("python", "class A:\n def f(self, " + "p: T, " * 200 + "):\n" + "  self.x = p\n" * 10_000),
        ("rust", "use a::{" + "b::{c, d},\n" * 15_000 + "};"),
        ("python", "@property\n" * 20_000 + "def f(): pass\n"),
    ],
)
def test_long_lists_take_no_longer_than_their_length(language_id: str, text: str) -> None:
    """Seconds where a match that waits for its end is kept for each item would take minutes."""
    start = time.thread_time()
    check_lines(text, extract_symbols(text, language_for_id(language_id)))
    assert time.thread_time() - start < 10


def check_lines(text: str, symbols: FileSymbols) -> None:
    num_lines = text.count("\n") + 1
    starts = [one.start_line for one in symbols.definitions]
    assert starts == sorted(starts)
    assert all(0 <= one.start_line < one.end_line <= num_lines for one in symbols.definitions)
    assert all(0 <= one.line < num_lines for one in symbols.imports)
    assert all(one.name and one.signature for one in symbols.definitions)
    assert all("\n" not in one.signature for one in symbols.definitions)


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
