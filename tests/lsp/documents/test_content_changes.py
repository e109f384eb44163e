"""Many content changes of one notification: the right text, at the cost of one text."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from reference_text import ENCODINGS, slowly_changed

from intarsia.lsp.documents import content_changes
from intarsia.lsp.documents.content_changes import changed_text
from intarsia.lsp.documents.documents import Documents
from intarsia.lsp.documents.positions import PositionEncoding

URI = "file:///a.py"

Change = types.TextDocumentContentChangeEvent


def partial(start: tuple[int, int], end: tuple[int, int], text: str) -> Change:
    span = types.Range(types.Position(*start), types.Position(*end))
    return types.TextDocumentContentChangePartial(range=span, text=text)


def whole(text: str) -> Change:
    return types.TextDocumentContentChangeWholeDocument(text=text)


texts = st.text(alphabet="ab\n\r\x0c\u2028ß日😀\ud83d\ude00", max_size=24)
places = st.tuples(st.integers(0, 12), st.integers(0, 12))
changes = st.lists(
    st.one_of(
        st.builds(partial, places, places, texts),
        st.builds(partial, places, places, st.just("")),
        st.builds(whole, texts),
    ),
    max_size=12,
)


@settings(max_examples=400)
@given(
    text=texts,
    changes=changes,
    encoding=st.sampled_from(ENCODINGS),
    chunk_chars=st.sampled_from([1, 2, 3, 7, 4_096]),
)
def test_the_text_is_that_of_the_slow_reference(
    text: str, changes: list[Change], encoding: PositionEncoding, chunk_chars: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content_changes, "CHUNK_CHARS", chunk_chars)
        result = changed_text(text, changes, encoding)
    assert result == slowly_changed(text, changes, encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", ["word = 'ß😀'\r\n" * 700, "one 日 line;" * 800, "\r" * 9_000])
def test_a_text_of_several_chunks_is_that_of_the_slow_reference(
    text: str, encoding: PositionEncoding
) -> None:
    random_ = random.Random(1)
    some = [
        partial(
            (random_.randrange(1_000), random_.randrange(12_000)),
            (random_.randrange(1_000), random_.randrange(12_000)),
            random_.choice(["", "x", "\n", "\r", "ß" * 5_000, "a\r\nb"]),
        )
        for _ in range(6)
    ]
    assert changed_text(text, some, encoding) == slowly_changed(text, some, encoding)


def replace_all(num_lines: int, order: str) -> list[Change]:
    """Return one change for each line, as editors send "replace all"."""
    numbers = list(range(num_lines))
    match order:
        case "from the end":
            numbers.reverse()
        case "in no order":
            random.Random(1).shuffle(numbers)
    return [partial((number, 0), (number, 4), "renamed") for number in numbers]


@pytest.mark.parametrize("order", ["from the end", "from the start", "in no order"])
def test_what_changes_cost_does_not_depend_on_the_length_of_the_text(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = 0

    class CountedChunk(content_changes._Chunk):
        def __init__(self, text: str) -> None:
            nonlocal built
            built += len(text)
            super().__init__(text)

    def cost(num_lines: int) -> int:
        nonlocal built
        built = 0
        text = "word = 'some text'\n" * num_lines
        result = changed_text(text, replace_all(500, order), "utf-16")
        assert result.startswith("renamed = 'some text'\n" * 500 + "word")
        return built - len(text)

    monkeypatch.setattr(content_changes, "_Chunk", CountedChunk)
    short, long = cost(5_000), cost(50_000)
    assert 0 < long <= 1.1 * short


def test_lines_are_indexed_once_for_all_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = Documents()
    documents.open(types.TextDocumentItem(URI, "python", 1, "word\n" * 2_000))
    indexed: list[str] = []

    def line_starts(text: str) -> Sequence[int]:
        indexed.append(text)
        return [0]

    monkeypatch.setattr("intarsia.lsp.documents.documents.line_starts", line_starts)
    identifier = types.VersionedTextDocumentIdentifier(uri=URI, version=2)
    params = types.DidChangeTextDocumentParams(identifier, replace_all(2_000, "from the end"))
    documents.change(params)
    assert indexed == ["renamed\n" * 2_000]


@pytest.mark.parametrize("character", ["x", "\n", "\r", "ß"])
def test_many_insertions_at_the_end_leave_few_chunks(character: str) -> None:
    chunks = content_changes._ChunkedText("", "utf-16")
    end = types.Range(types.Position(99_999, 0), types.Position(99_999, 0))
    for _ in range(5_000):
        chunks.replace(end, character)
    assert str(chunks) == character * 5_000
    assert len(chunks._chunks) <= 2
