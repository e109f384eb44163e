"""What a client sends becomes one change; accepted texts are followed through later ones."""

import asyncio
import statistics
import time

import pytest
from lsprotocol import types
from open_documents import URI, at, changed

from intarsia.infill.syntax.text import replaced_range
from intarsia.infill.text_change import TextChange, TextRange
from intarsia.lsp.documents import Document, Documents
from intarsia.lsp.manners import MAX_ACCEPTED, KeptTexts, Watched, change_between

TABLE = "a = old\nb = old\n\nc = old\n"


def change(text: str, *edits: tuple[int, int, int, str]) -> TextChange:
    """Return the change by edits of a line: from a column, to a column, with a text."""
    return change_of_ranges(text, *((at(line, start, end), new) for line, start, end, new in edits))


def change_of_ranges(text: str, *edits: tuple[types.Range, str]) -> TextChange:
    documents = Documents()
    documents.open(types.TextDocumentItem(URI, "python", 1, text))
    before, params = documents.current(URI), changed(URI, 2, *edits)
    documents.change(params)
    after = documents.current(URI)
    assert isinstance(before, Document) and isinstance(after, Document)
    return change_between(before, after, params.content_changes)


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
    assert change("x = \ny = 1\n", *keys).texts == ()


def test_places_of_a_formatter_are_several() -> None:
    formatted = change(
        "a=1\nb=2\nc=a\n", (0, 0, 3, "a = 1"), (1, 0, 3, "b = 2"), (2, 0, 3, "c = a")
    )
    assert len(formatted.texts) == 3 and not formatted.is_alike


def test_a_key_with_several_cursors_is_alike_and_replace_all_is_not() -> None:
    assert change("a\nb\nc\n", (0, 1, 1, "x"), (1, 1, 1, "x"), (2, 1, 1, "x")).is_alike
    assert not change("a\na\na\n", (0, 0, 1, "sum"), (1, 0, 1, "sum"), (2, 0, 1, "sum")).is_alike


def test_changed_lines_that_are_sent_as_one_change_are_several_places() -> None:
    lines = types.Range(types.Position(0, 4), types.Position(3, 7))
    replaced = change_of_ranges(TABLE, (lines, "new\nb = new\n\nc = new"))
    assert replaced.texts == ("new", "new", "new") and not replaced.is_alike
    pasted = change_of_ranges(TABLE, (lines, "x\ny\n"))
    assert pasted.texts == ()


class Kept:
    """A document in which a text was accepted."""

    def __init__(self, before: str, accepted: str) -> None:
        self.ends: list[bool] = []
        self.texts = KeptTexts(self.ends.append, after_s=3600)
        self.document = before.replace("|", accepted)
        start = before.index("|")
        self.texts.add(TextRange(start=start, end=start + len(accepted)), self.document)

    def becomes(self, document: str) -> bool:
        start, old_end, new_end = replaced_range(self.document, document)
        change = TextChange(
            start=start, removed=self.document[start:old_end], inserted=document[start:new_end]
        )
        self.document = document
        return self.texts.move(change, document)


@pytest.mark.parametrize(
    ("texts", "is_kept"),
    [
        (["import os\nx = a+b\n", "import os\nx = a+b  # why\n"], True),
        (["x = a + b\n"], True),  # white space in it may change
        (["x = a-b\n"], False),
    ],
)
async def test_it_is_kept_while_other_text_changes(texts: list[str], is_kept: bool) -> None:
    kept = Kept("x = |\n", "a+b")
    assert not any(kept.becomes(text) for text in texts)
    kept.texts.close()
    assert kept.ends == [is_kept]


async def test_it_is_told_at_once_when_all_of_it_is_taken_back() -> None:
    kept = Kept("x = |\n", "a+b")
    assert kept.becomes("x = \n")
    assert kept.ends == [False]
    kept.texts.close()
    assert kept.ends == [False]


async def test_more_of_the_same_suggestion_is_one_text() -> None:
    kept = Kept("x = |\n", "a")
    kept.becomes("x = a+b\n")
    kept.texts.add(TextRange(start=4, end=7), kept.document)
    kept.texts.close()
    assert kept.ends == [True]


async def test_its_time_ends_by_itself() -> None:
    ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    texts = KeptTexts(ended.set_result, after_s=0)
    texts.add(TextRange(start=0, end=1), "a")
    assert await ended is True


async def test_they_are_bounded() -> None:
    ends: list[bool] = []
    texts = KeptTexts(ends.append, after_s=3600)
    document = "ab" * (MAX_ACCEPTED + 5)
    for number in range(MAX_ACCEPTED + 5):
        texts.add(TextRange(start=2 * number, end=2 * number + 1), document)
    assert len(ends) == 5
    texts.close()


LINE = "value = compute(first, second)\n"


def seconds_per_key(num_lines: int) -> float:
    """Return the median time of a key at the end of a document, after the change itself."""
    documents = Documents()
    documents.open(types.TextDocumentItem(URI, "python", 1, LINE * num_lines))
    watched = Watched(count=lambda counts: None, kept=KeptTexts(lambda is_kept: None))
    taken = []
    for column in range(30):
        before, params = (
            documents.current(URI),
            changed(URI, column + 2, (at(num_lines, column), "x")),
        )
        documents.change(params)
        after = documents.current(URI)
        assert before is not None and after is not None
        started = time.perf_counter()
        watched.change(
            change_between(before, after, params.content_changes), before.text, after.text
        )
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def test_a_document_a_thousand_times_as_long_costs_no_more() -> None:
    short, long = seconds_per_key(100), seconds_per_key(100_000)
    assert long < 50 * short, "the work of a whole document would be a thousand times as much"
