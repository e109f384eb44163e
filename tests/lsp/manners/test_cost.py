"""A key costs the manners no more in a long document."""

import statistics
import time

from lsprotocol import types

from intarsia.lsp.documents.documents import Documents
from intarsia.lsp.manners.manners import change_between
from intarsia.lsp.manners.watched import KeptTexts, Watched

LINE = "value = compute(first, second)\n"


def seconds_per_key(num_lines: int) -> float:
    """Return the median time of a key at the end of a document, after the change itself."""
    documents = Documents()
    uri = "file:///a.py"
    documents.open(types.TextDocumentItem(uri, "python", 1, LINE * num_lines))
    watched = Watched(count=lambda counts: None, kept=KeptTexts(lambda is_kept: None))
    taken = []
    for column in range(30):
        place = types.Position(num_lines, column)
        change = types.TextDocumentContentChangePartial(types.Range(place, place), "x")
        before = documents.current(uri)
        identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=column + 2)
        documents.change(types.DidChangeTextDocumentParams(identifier, [change]))
        after = documents.current(uri)
        assert before is not None and after is not None
        started = time.perf_counter()
        watched.change(change_between(before, after, [change]), before.text, after.text)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def test_a_document_a_thousand_times_as_long_costs_no_more() -> None:
    short, long = seconds_per_key(100), seconds_per_key(100_000)
    assert long < 50 * short, "the work of a whole document would be a thousand times as much"
