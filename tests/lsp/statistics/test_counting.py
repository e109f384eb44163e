"""What a server counts in any editor: by the changes that insert what it has suggested."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from editor_clients import ask_inline, editing, inline_items, open_document, vscode
from lsprotocol import types
from pytest_lsp import LanguageClient
from rule_server import rule_server

from intarsia.engine.ipc.address import Address
from intarsia.lsp.statistics.counts import Counts, LanguageCounts
from intarsia.lsp.statistics.file import read_counts, statistics_file

OPTIONS = {"debounceMs": 0, "fillAhead": "off", "nextEdit": "off"}
SHOWN = "first + second"


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path / "data"))


@asynccontextmanager
async def suggested(
    runtime: Address, **options: object
) -> AsyncIterator[tuple[LanguageClient, str]]:
    """Open a document with a suggestion on show; the counts are kept when the server ends."""
    server = rule_server(text=SHOWN)
    async with editing(vscode(), runtime, server=server, options={**OPTIONS, **options}) as client:
        uri = open_document(client, "a.py", "x = \n")
        assert await inline_items(client, ask_inline(uri, 0, 4))
        yield client, uri


def insert(client: LanguageClient, uri: str, texts: Sequence[str]) -> None:
    """Insert texts after each other where the suggestion is."""
    at = 4
    for version, text in enumerate(texts, start=2):
        place = types.Range(types.Position(0, at), types.Position(0, at))
        change = types.TextDocumentContentChangePartial(place, text)
        identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
        client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        at += len(text)


def counts() -> Counts:
    return read_counts(statistics_file()).counts


ACCEPTED = LanguageCounts(shown=1, accepted=1, kept=1, ended=1)


@pytest.mark.parametrize(
    "texts",
    [[SHOWN], ["first", " +", " second"], list(SHOWN), ["first"], ["fir", "st + second"]],
)
async def test_an_accept_is_counted_once_whole_in_words_or_typed_along(
    runtime: Address, texts: list[str]
) -> None:
    async with suggested(runtime) as (client, uri):
        insert(client, uri, texts)
    assert counts().languages == {"python": ACCEPTED}


async def test_something_else_that_is_typed_is_no_accept(runtime: Address) -> None:
    async with suggested(runtime) as (client, uri):
        insert(client, uri, ["f", "o", "o"])
    assert counts().languages == {"python": LanguageCounts(shown=1)}


async def test_a_rest_that_is_shown_again_is_the_same_suggestion(runtime: Address) -> None:
    async with suggested(runtime) as (client, uri):
        assert await inline_items(client, ask_inline(uri, 0, 4, is_invoked=True))
        insert(client, uri, ["fi"])
        assert await inline_items(client, ask_inline(uri, 0, 6))
    assert counts().total == LanguageCounts(shown=1)


async def test_what_is_deleted_again_was_not_kept(runtime: Address) -> None:
    async with suggested(runtime) as (client, uri):
        insert(client, uri, [SHOWN])
        place = types.Range(types.Position(0, 4), types.Position(0, 4 + len(SHOWN)))
        change = types.TextDocumentContentChangePartial(place, "")
        identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=3)
        client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
    assert counts().total == LanguageCounts(shown=1, accepted=1, kept=0, ended=1)


async def test_requests_without_a_suggestion_are_counted_by_their_reason(runtime: Address) -> None:
    async with suggested(runtime, disabledLanguages=["go"]) as (client, uri):
        open_document(client, "b.go", "x := ", "go")
        await inline_items(client, ask_inline(uri.replace("a.py", "b.go"), 0, 5))
        insert(client, uri, ["# a"])
        await inline_items(client, ask_inline(uri, 0, 7))
    assert counts().not_shown == {"language": 1, "comment": 1}


async def test_nothing_is_counted_where_statistics_are_off(runtime: Address) -> None:
    async with suggested(runtime, statistics=False) as (client, uri):
        insert(client, uri, [SHOWN])
    assert not statistics_file().exists()
