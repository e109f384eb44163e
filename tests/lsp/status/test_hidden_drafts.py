"""A draft ends where the model writes something that is not seen."""

from typing import Any

import pytest
from lsprotocol import types

from intarsia.engine.ipc.messages import CanvasToken, Step
from intarsia.lsp.documents.documents import Documents
from intarsia.lsp.documents.snapshot import Snapshot, take_snapshot
from intarsia.lsp.status.draft_notifications import Drafts

URI = "file:///a.py"


@pytest.mark.parametrize(
    ("text", "written", "shown"),
    [
        ("x = ", ("1", " + 2"), ["1", " + 2"]),
        ("x = ", ("1", " +\x1b[2J", "3"), ["1", " +"]),
        ("x = ", ("1", "\u202e", "3"), ["1"]),
        ("# \u202e\nx = ", ("1", "\u202e", "3"), ["1", "\u202e", "3"]),
    ],
)
async def test_a_draft_has_no_hidden_character(
    text: str, written: tuple[str, ...], shown: list[str]
) -> None:
    sent: list[Any] = []
    documents = Documents()
    documents.open(types.TextDocumentItem(URI, "python", 1, text))
    snapshot = take_snapshot(documents, URI, types.Position(9, 0))
    assert isinstance(snapshot, Snapshot)
    drafts = Drafts(lambda _, draft: sent.append(draft), documents)
    with drafts.of(snapshot) as on_step:
        tokens = tuple(CanvasToken(token, 0.5, True) for token in written)
        on_step(Step(id=1, step=1, tokens=tokens))
    assert [token.text for token in sent[0].tokens] == shown
