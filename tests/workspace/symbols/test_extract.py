"""Definitions and imports of real files in each language, and of any text at all."""

import time
import tomllib
from pathlib import Path, PurePosixPath

import pytest
from drawn_symbols import draw_definitions, draw_imports, symbols_of
from hypothesis import given, settings
from hypothesis import strategies as st
from real_files import REAL_FILES

from intarsia.infill.languages import LANGUAGES, Language, language_for_id
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import Definition, FileSymbols, Import, ImportedName


def drawn(definitions: tuple[Definition, ...]) -> list[str]:
    """Draw each definition on a line: its first line number, kind, container and signature."""
    return [f"{d.start_line} {d.kind} {d.container or '-'} {d.signature}" for d in definitions]


def check(text: str, language_id: str, *expected: str) -> FileSymbols:
    symbols = extract_symbols(text, language_for_id(language_id))
    assert [line.partition(" ")[2] for line in drawn(symbols.definitions)] == list(expected)
    return symbols


def test_a_real_python_file() -> None:
    symbols = symbols_of("python/zmqtt/subscription_index.py")
    assert drawn(symbols.definitions)[:10] == [
        "9 class - @dataclass(slots=True, kw_only=True) class SubscriptionEntry",
        "10 field SubscriptionEntry queue: asyncio.Queue[Message]",
        "11 field SubscriptionEntry auto_ack: bool = True",
        '12 field SubscriptionEntry actual_filter: str = ""',
        "13 field SubscriptionEntry subscription_identifier: int | None = None",
        "14 field SubscriptionEntry detached: bool = False",
        "18 class - @dataclass(slots=True) class _Node",
        '19 field _Node children: dict[str, "_Node"] = field(default_factory=dict)',
        '20 field _Node wildcard_children: dict[str, "_Node"] = field(default_factory=dict)',
        "21 field _Node entries: list[tuple[str, SubscriptionEntry]] = field(default_factory=list)",
    ]
    assert symbols.imports[-2:] == (
        Import(
            module="zmqtt._internal.topic_matching",
            names=(
                ImportedName(name="_segment_rank", local="_segment_rank"),
                ImportedName(name="_topic_matches", local="_topic_matches"),
            ),
            line=4,
        ),
        Import(
            module="zmqtt._internal.types.message",
            names=(ImportedName(name="Message", local="Message"),),
            line=5,
        ),
    )


def test_a_real_typescript_file() -> None:
    symbols = symbols_of("typescript/milkdown-plugin-diff/diff-plugin.ts")
    assert drawn(symbols.definitions) == [
        "13 constant - const diffPluginKey = new PluginKey<DiffState | null>('MILKDOWN_DIFF')",
        "15 function - function recomputeChanges(doc: Node, state: DiffState, "
        "options?: ComputeDocDiffOptions): DiffState",
        "25 function - function isChangeRejected(change: { fromB: number; toB: number }, "
        "rejectedRanges: Array<{ fromB: number; toB: number }>): boolean",
        "35 function - function getPendingChanges(state: DiffState)",
        "40 constant - const diffPlugin = ...",
        "47 method diffPlugin apply(tr, value, _oldEditorState, newEditorState)",
        "129 method diffPlugin filterTransaction(tr, editorState)",
    ]
    assert symbols.definitions[0].type_name == "PluginKey"
    assert symbols.imports[4].module == "./types"


def test_types_of_python_fields_come_from_values_and_parameters() -> None:
    symbols = check(
        "class A(base.B, C[int], metaclass=M):\n"
        "    def __init__(self, client: Client, n: int = 0) -> None:\n"
        "        self.client = client\n"
        "        self.store = Store()\n"
        "        local = 1\n"
        "        def inner(): ...\n"
        "    @property\n"
        "    def name(self) -> str:\n"
        "        self.late: int = 1\n",
        "python",
        "class - class A(base.B, C[int], metaclass=M)",
        "method A def __init__(self, client: Client, n: int = 0) -> None",
        "field A self.client = client",
        "field A self.store = Store()",
        "method A @property def name(self) -> str",
        "field A self.late: int = 1",
    )
    assert symbols.definitions[0].bases == ("base.B", "C")
    assert [one.type_name for one in symbols.definitions[1:]] == [
        "None",
        "Client",
        "Store",
        "str",
        "int",
    ]


def test_members_of_typescript_types() -> None:
    symbols = check(
        "export class A<T> extends B.C<T> implements I, J<K> {\n"
        "  private readonly x: number = 3\n"
        "  constructor(private client: Client) { this.store = new Store() }\n"
        "  static async *gen(a: string): void {}\n"
        "  run = (a: X): Y => { return 1 }\n"
        "}\n"
        "interface I extends P<Q> { a?: string; m(x: number): void }\n"
        "type O = { a: string }\n"
        'enum E { A = 1, B = "x" }\n'
        "const f = async (a: X): Promise<Y> => a\n",
        "typescript",
        "class - class A<T> extends B.C<T> implements I, J<K>",
        "field A private readonly x: number = 3",
        "method A constructor(private client: Client)",
        "field A private client: Client",
        "field A this.store = new Store()",
        "method A static async *gen(a: string): void",
        "method A run = (a: X): Y",
        "type - interface I extends P<Q>",
        "field I a?: string",
        "method I m(x: number): void",
        "type - type O",
        "field O a: string",
        "class - enum E",
        "field E A = 1",
        'field E B = "x"',
        "function - const f = async (a: X): Promise<Y>",
    )
    assert symbols.definitions[0].bases == ("B.C", "I", "J")
    assert symbols.definitions[-1].type_name == "Promise<Y>"


def test_imports_of_javascript() -> None:
    symbols = check(
        'import first, {a as b, c} from "./m"\n'
        "import * as all from 'x'\n"
        'import "side"\n'
        'export {q as r} from "./q"\n'
        'const m = require("./m"), {d, e: f} = require("z")\n',
        "javascript",
    )
    assert [
        (one.module, one.local, [(name.name, name.local) for name in one.names])
        for one in symbols.imports
    ] == [
        ("./m", "", [("default", "first"), ("a", "b"), ("c", "c")]),
        ("x", "all", []),
        ("side", "", []),
        ("./q", "", [("q", "r")]),
        ("./m", "m", []),
        ("z", "", [("d", "d"), ("e", "f")]),
    ]


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
@given(language=st.sampled_from(LANGUAGES), data=st.data())
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
