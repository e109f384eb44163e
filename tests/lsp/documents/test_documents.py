"""Text sync: after any edits the server's text is the client's, at the cost of one text."""

import asyncio
import random
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from open_documents import at, changed
from reference_text import ENCODINGS, slowly_changed

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.tree import parse
from intarsia.lsp import positions
from intarsia.lsp.documents import Document, Documents
from intarsia.lsp.positions import changed_text, joined
from intarsia.lsp.requests.code_action import code_action
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.snapshots import MAX_CHARS_ON_LOOP, parse_if_long, read_text

URI = "file:///a.py"


def opened(text: str, encoding: str = "utf-16") -> Documents:
    documents = Documents()
    documents.encoding = encoding
    documents.open(types.TextDocumentItem(URI, "python", 1, text))
    return documents


def current(documents: Documents) -> Document:
    document = documents.current(URI)
    assert document is not None
    return document


def edit(documents: Documents, start: int, end: int, text: str, version: int = 2) -> None:
    document = current(documents)
    span = types.Range(document.position_at(start), document.position_at(end))
    documents.change(changed(URI, version, (span, text)))


def test_a_kept_document_stays_as_it_was_and_is_current_no_more() -> None:
    documents = opened("old")
    kept = current(documents)
    edit(documents, 0, 3, "new")
    assert kept.text == "old"
    assert documents.current(URI) is not kept


def test_a_change_without_an_effect_makes_a_new_version_all_the_same() -> None:
    documents = opened("text")
    kept = current(documents)
    edit(documents, 0, 0, "")
    assert documents.current(URI) is not kept


def test_half_a_character_is_known_until_the_other_half_comes() -> None:
    documents = opened("a = '😀'")
    for number, (start, end, text, seen) in enumerate(
        [
            (6, 7, "\ude01", "a = '😁'"),  # one half is replaced
            (6, 7, "", "a = '\ufffd'"),
            (8, 8, " + '\ud83d", "a = '\ufffd' + '\ufffd"),
            (6, 6, "\ude02", "a = '😂' + '\ufffd"),
            (7, 13, "'", "a = '😂'"),
        ]
    ):
        documents.change(changed(URI, number, (at(0, start, end), text)))
        assert current(documents).text == seen
        assert (
            current(documents).position_at(len(seen)).character
            == len(seen.encode("utf-16")) // 2 - 1
        )


def partial(start: tuple[int, int], end: tuple[int, int], text: str):
    span = types.Range(types.Position(*start), types.Position(*end))
    return types.TextDocumentContentChangePartial(range=span, text=text)


texts = st.text(alphabet="ab\n\r\x0c\u2028ß日😀\ud83d\ude00", max_size=24)
places = st.tuples(st.integers(0, 12), st.integers(0, 12))
changes = st.lists(
    st.one_of(
        st.builds(partial, places, places, texts),
        st.builds(partial, places, places, st.just("")),
        st.builds(types.TextDocumentContentChangeWholeDocument, text=texts),
    ),
    max_size=12,
)


@settings(max_examples=400)
@given(text=texts.map(joined), changes=changes, encoding=st.sampled_from(ENCODINGS))
def test_the_text_is_that_of_the_slow_reference(text, changes, encoding):
    assert changed_text(text, changes, encoding) == slowly_changed(text, changes, encoding)


def replace_all(num_lines: int, order: str):
    """Return one change for each line, as editors send "replace all"."""
    numbers = list(range(num_lines))
    match order:
        case "from the end":
            numbers.reverse()
        case "in no order":
            random.Random(1).shuffle(numbers)
    return [partial((number, 0), (number, 4), "renamed") for number in numbers]


@pytest.mark.parametrize("order", ["from the end", "from the start", "in no order"])
def test_what_changes_cost_does_not_depend_on_the_length_of_the_text(order, monkeypatch):
    built: list[int] = []
    monkeypatch.setattr(positions, "joined", lambda text: built.append(len(text)) or text)

    def cost(num_lines: int) -> int:
        built.clear()
        text = "word = 'some text'\n" * num_lines
        result = changed_text(text, replace_all(500, order), "utf-16")
        assert result.startswith("renamed = 'some text'\n" * 500 + "word")
        return sum(built)

    assert 0 < cost(50_000) == cost(5_000)


def test_lines_are_indexed_once_for_all_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = Documents()
    documents.open(types.TextDocumentItem(URI, "python", 1, "word\n" * 2_000))
    indexed: list[str] = []

    def line_starts(text: str) -> Sequence[int]:
        indexed.append(text)
        return [0]

    monkeypatch.setattr("intarsia.lsp.documents.line_starts", line_starts)
    identifier = types.VersionedTextDocumentIdentifier(uri=URI, version=2)
    params = types.DidChangeTextDocumentParams(identifier, replace_all(2_000, "from the end"))
    documents.change(params)
    assert indexed == ["renamed\n" * 2_000]


PYTHON = language_for_id("python")
SHORT = "def f(): ...\n"
LONG = SHORT * (MAX_CHARS_ON_LOOP // len(SHORT) + 1)


@pytest.mark.parametrize(("text", "is_in_thread"), [(SHORT, False), (LONG, True)])
async def test_only_a_long_text_takes_a_thread(text: str, is_in_thread: bool) -> None:
    worked_in = await read_text(text, threading.current_thread)
    assert (worked_in is not threading.main_thread()) == is_in_thread


async def test_planning_finds_a_long_text_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    await parse_if_long(LONG, 5, PYTHON)

    def parse_again(*_: object) -> None:
        raise AssertionError("it is parsed already")

    monkeypatch.setattr("intarsia.infill.syntax.tree.parse_bounded", parse_again)
    assert parse(LONG, PYTHON) is not None


async def test_the_loop_answers_while_a_long_text_is_searched_for_holes(monkeypatch):
    server = IntarsiaServer()
    monkeypatch.setattr(type(server), "client_capabilities", types.ClientCapabilities())
    server.session.documents.open(types.TextDocumentItem(URI, "python", 1, LONG))
    threads: list[threading.Thread] = []

    async def in_thread(work, *arguments):
        result = await to_thread(lambda: (threading.current_thread(), work(*arguments)))
        threads.append(result[0])
        return result[1]

    to_thread = asyncio.to_thread
    monkeypatch.setattr(asyncio, "to_thread", in_thread)
    selected = types.CodeActionParams(
        text_document=types.TextDocumentIdentifier(URI),
        range=types.Range(types.Position(0, 0), types.Position(3, 0)),
        context=types.CodeActionContext(diagnostics=[]),
    )
    actions = await code_action(server, selected)
    assert [it.title for it in actions or ()][-1] == "Fill all 3 holes in the selection (intarsia)"
    assert threads and threading.main_thread() not in threads
