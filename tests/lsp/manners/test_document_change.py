"""What a client sends becomes one change of the text: keys of a moment are one, places are not."""

import pytest
from lsprotocol import types

from intarsia.infill.text_change import TextChange
from intarsia.lsp.documents.documents import Document, Documents
from intarsia.lsp.manners.manners import change_between

TABLE = "a = old\nb = old\n\nc = old\n"


def change(text: str, *edits: tuple[int, int, int, str]) -> TextChange:
    """Return the change by edits of a line: from a column, to a column, with a text."""
    places = [
        types.Range(types.Position(line, start), types.Position(line, end))
        for line, start, end, _ in edits
    ]
    return change_of_ranges(text, *zip(places, [inserted for *_, inserted in edits], strict=True))


def change_of_ranges(text: str, *edits: tuple[types.Range, str]) -> TextChange:
    """Return the change by edits that one message brings."""
    documents = Documents()
    documents.open(types.TextDocumentItem("file:///a.py", "python", 1, text))
    before = documents.current("file:///a.py")
    events: list[types.TextDocumentContentChangeEvent] = [
        types.TextDocumentContentChangePartial(place, inserted) for place, inserted in edits
    ]
    identifier = types.VersionedTextDocumentIdentifier(uri="file:///a.py", version=2)
    documents.change(types.DidChangeTextDocumentParams(identifier, events))
    after = documents.current("file:///a.py")
    assert isinstance(before, Document) and isinstance(after, Document)
    return change_between(before, after, events)


def test_one_change_has_no_text_that_stays() -> None:
    replaced = change("print(x)\n", (0, 0, 5, "prints"))
    assert (replaced.start, replaced.removed, replaced.inserted) == (5, "", "s")


@pytest.mark.parametrize(
    "keys",
    [
        [(0, 4, 4, "a"), (0, 5, 5, "b"), (0, 6, 6, "c")],
        [(0, 4, 4, "ä"), (0, 5, 5, "b"), (0, 6, 6, "c")],
        [(0, 4, 4, "a"), (0, 5, 5, "b"), (0, 5, 6, ""), (0, 5, 5, "c")],
        [(0, 4, 4, "a"), (0, 5, 5, "\n"), (1, 0, 0, "b")],
        [(0, 3, 4, ""), (0, 2, 3, ""), (0, 1, 2, "")],
    ],
)
def test_keys_of_a_moment_are_one_change(keys: list[tuple[int, int, int, str]]) -> None:
    assert change("x = \ny = 1\n", *keys).num_places == 1


def test_places_of_a_formatter_are_several() -> None:
    formatted = change(
        "a=1\nb=2\nc=a\n", (0, 0, 3, "a = 1"), (1, 0, 3, "b = 2"), (2, 0, 3, "c = a")
    )
    assert formatted.num_places == 3 and not formatted.is_alike


def test_a_key_with_several_cursors_is_alike_and_replace_all_is_not() -> None:
    assert change("a\nb\nc\n", (0, 1, 1, "x"), (1, 1, 1, "x"), (2, 1, 1, "x")).is_alike
    assert not change("a\na\na\n", (0, 0, 1, "sum"), (1, 0, 1, "sum"), (2, 0, 1, "sum")).is_alike


def test_changed_lines_that_are_sent_as_one_change_are_several_places() -> None:
    lines = types.Range(types.Position(0, 4), types.Position(3, 7))
    replaced = change_of_ranges(TABLE, (lines, "new\nb = new\n\nc = new"))
    assert replaced.num_places == 3 and not replaced.is_alike
    pasted = change_of_ranges(TABLE, (lines, "x\ny\n"))
    assert pasted.num_places == 1
