"""Text sync: after any edit the server's text is the client's."""

import logging
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from intarsia.lsp.documents.documents import Document, Documents

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
    change = types.TextDocumentContentChangePartial(range=span, text=text)
    identifier = types.VersionedTextDocumentIdentifier(uri=URI, version=version)
    documents.change(types.DidChangeTextDocumentParams(identifier, [change]))


@given(
    text=st.text(alphabet="ab\n\r\x0c\u2028ß😀", max_size=20),
    new=st.text(alphabet="x\n\r😀", max_size=4),
    places=st.tuples(st.integers(0, 20), st.integers(0, 20)),
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-32"]),
)
def test_an_edit_changes_just_its_range(
    text: str, new: str, places: tuple[int, int], encoding: str
) -> None:
    text = re.sub("\r+\n", "\n", text)  # no position is inside a CRLF
    start, end = sorted(min(place, len(text)) for place in places)
    documents = opened(text, encoding)
    edit(documents, start, end, new)
    assert current(documents).text == text[:start] + new + text[end:]


def test_an_edit_below_a_form_feed_hits_the_line_that_the_client_means() -> None:
    documents = opened("one\x0c\ntwo\nthree\n")
    position = types.Position(2, 0)
    change = types.TextDocumentContentChangePartial(types.Range(position, position), "X")
    identifier = types.VersionedTextDocumentIdentifier(uri=URI, version=2)
    documents.change(types.DidChangeTextDocumentParams(identifier, [change]))
    assert current(documents).text == "one\x0c\ntwo\nXthree\n"


def test_changes_of_one_notification_apply_one_after_the_other() -> None:
    documents = opened("")
    first = types.TextDocumentContentChangeWholeDocument(text="a\nb")
    end = types.Position(1, 1)
    second = types.TextDocumentContentChangePartial(types.Range(end, end), "c")
    identifier = types.VersionedTextDocumentIdentifier(uri=URI, version=7)
    documents.change(types.DidChangeTextDocumentParams(identifier, [first, second]))
    assert (current(documents).text, current(documents).version) == ("a\nbc", 7)


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


def test_change_and_close_of_an_unopened_document_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    documents = Documents()
    identifier = types.VersionedTextDocumentIdentifier(uri=URI, version=2)
    with caplog.at_level(logging.WARNING):
        documents.change(types.DidChangeTextDocumentParams(identifier, []))
        documents.close(URI)
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "ignored a change of a document that is not open",
        "ignored the closing of a document that is not open",
    ]
