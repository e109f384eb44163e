"""While the user types, only what is probable enough to be kept is shown; on request, all of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from editor_clients import (
    ask_inline,
    connected,
    editing,
    inline_items,
    insert,
    log_of,
    neovim,
    open_document,
    vscode,
)
from engine_watch import engine_once
from extended_client import Message, asking_for, notified, record
from lsprotocol import types
from pytest_lsp import LanguageClient
from rule_server import rule_server

from intarsia.engine.ipc.address import Address
from intarsia.infill.calibration.calibration import CALIBRATIONS, keep_probability
from intarsia.infill.calibration.threshold import IMPROBABLE
from intarsia.infill.confidence import ConfidentToken
from intarsia.lsp.requests.look_ahead import is_better
from intarsia.lsp.suggestions.ghost_text import GhostText
from intarsia.lsp.suggestions.request_outcome import RequestOutcome

TEXT, UNSURE = "alpha + beta", ["beta"]
"""The rule engine, which has the default model's name, gives ``beta`` a confidence of 0.3."""


def probability(*confidences: float) -> float:
    tokens = [ConfidentToken("x", confidence) for confidence in confidences]
    found = keep_probability(tokens, None, CALIBRATIONS["qwen2.5-coder-0.5b"])
    assert found is not None
    return found


WHOLE, BEGINNING = probability(1, 1, 0.3), probability(1)
BETWEEN = round(50 * (WHOLE + BEGINNING))
ABOVE = 100  # no text is certain


@asynccontextmanager
async def typing(
    runtime: Address,
    threshold: str | int,
    *,
    who: types.InitializeParams | None = None,
    languages: dict[str, dict[str, object]] | None = None,
    **rules: Any,
) -> AsyncIterator[LanguageClient]:
    """Run a server for an editor with this threshold, and others for some languages."""
    server = rule_server(**{"text": TEXT, "unsure": UNSURE, **rules})
    options = {"debounceMs": 0, "showThreshold": threshold, "fillAhead": "off"}
    options["languages"] = languages or {}
    async with editing(who or vscode(), runtime, server=server, options=options) as client:
        yield client


async def shown(client: LanguageClient, uri: str, column: int, *, asked: bool = False) -> list[str]:
    params = ask_inline(uri, 0, column, is_invoked=asked)
    return [str(item.insert_text) for item in await inline_items(client, params)]


async def test_an_improbable_text_is_not_shown_and_the_log_says_why(runtime: Address) -> None:
    async with typing(runtime, ABOVE) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await shown(client, uri, 4) == []
        reason = f"no suggestion: the text would probably not be kept: {100 * WHOLE:.0f} %"
        assert reason in log_of(client)
        await engine_once(runtime, lambda status: status.num_fills == 1)


@pytest.mark.parametrize("threshold", [0, "0"])
async def test_a_threshold_of_nothing_shows_all(runtime: Address, threshold: str | int) -> None:
    async with typing(runtime, threshold) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await shown(client, uri, 4) == [TEXT]


async def test_a_language_may_have_another_threshold(runtime: Address) -> None:
    async with typing(runtime, ABOVE, languages={"javascript": {"showThreshold": 0}}) as client:
        assert await shown(client, open_document(client, "a.py", "y = "), 4) == []
        script = open_document(client, "a.js", "y = ", "javascript")
        assert await shown(client, script, 4) == [TEXT]


async def test_on_request_all_is_shown(runtime: Address) -> None:
    async with typing(runtime, ABOVE, text="alpha{alternative} + beta") as client:
        uri = open_document(client, "a.py", "y = ")
        asked = await shown(client, uri, 4, asked=True)
        assert asked == [f"alpha{number} + beta" for number in range(3)]


async def test_what_was_hidden_is_shown_on_request_without_another_fill(runtime: Address) -> None:
    async with typing(runtime, ABOVE) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await shown(client, uri, 4) == []
        assert await shown(client, uri, 4) == []
        await engine_once(runtime, lambda status: status.num_fills == 1)
        assert (await shown(client, uri, 4, asked=True))[0] == TEXT


async def test_the_probable_beginning_is_shown(runtime: Address) -> None:
    async with typing(runtime, BETWEEN) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await shown(client, uri, 4) == ["alpha"]
        assert (await shown(client, uri, 4, asked=True))[0] == TEXT


async def test_typing_along_keeps_what_is_shown(runtime: Address) -> None:
    async with typing(runtime, BETWEEN) as client:
        uri = open_document(client, "a.py", "y = ")
        for typed, sign in enumerate("alpha"):
            assert await shown(client, uri, 4 + typed) == ["alpha"[typed:]]
            insert(client, uri, types.Position(0, 4 + typed), sign, typed + 2)
        await engine_once(runtime, lambda status: status.num_fills == 1)


async def test_after_what_is_shown_the_rest_is_judged_again(runtime: Address) -> None:
    async with typing(runtime, BETWEEN) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await shown(client, uri, 4) == ["alpha"]
        insert(client, uri, types.Position(0, 4), "alpha", 2)
        await shown(client, uri, 9)
        await engine_once(runtime, lambda status: status.num_fills == 2)


async def test_the_menu_gets_no_improbable_item(runtime: Address) -> None:
    async with typing(runtime, ABOVE, who=neovim()) as client:
        uri = open_document(client, "a.py", "y = ")
        document, place = types.TextDocumentIdentifier(uri), types.Position(0, 4)
        answer = await client.text_document_completion_async(
            types.CompletionParams(text_document=document, position=place)
        )
        assert isinstance(answer, types.CompletionList)
        assert not answer.items


@pytest.mark.parametrize(("threshold", "has_drafts"), [(0, True), (ABOVE, False)])
@pytest.mark.parametrize("asked", [False, True])
async def test_a_draft_of_a_hidden_text_does_not_flash(
    runtime: Address, threshold: int, has_drafts: bool, asked: bool
) -> None:
    rules = rule_server(text=TEXT, unsure=["alpha", "beta"], step_seconds=0.06)
    async with connected(runtime, rules) as client:
        messages: list[Message] = record(client)
        who = asking_for(vscode(), drafts=True)
        who.initialization_options = {"debounceMs": 0, "showThreshold": threshold}
        await client.initialize_session(who)
        await engine_once(runtime, lambda status: status.state == "ready")
        uri = open_document(client, "a.py", "y = ")
        await shown(client, uri, 4, asked=asked)
        assert bool(notified(messages, "intarsia/draft")) is (has_drafts or asked)
        await client.shutdown_session()


def ghost(text: str, shown_length: int | None) -> GhostText:
    return GhostText(text, (ConfidentToken(text, 0.5),), shown_length, 0.3)


def test_an_outcome_tells_the_kind_of_reason() -> None:
    outcome = RequestOutcome(ghosts=(ghost("alpha", 0),)).unasked(40)
    assert outcome.ghosts == ()
    assert outcome.kind == IMPROBABLE
    assert "30 %" in (outcome.reason or "")


def test_an_outcome_that_has_nothing_keeps_its_reason() -> None:
    outcome = RequestOutcome(reason="nothing to fill")
    assert outcome.unasked(40) == outcome


HIDDEN, OTHER_HIDDEN = ghost("a + b", 0), ghost("a + c", 0)
SHOWN, OTHER_SHOWN = ghost("a + b", None), ghost("a + c", 1)


@pytest.mark.parametrize(
    ("revised", "known", "is_taken"),
    [
        (SHOWN, None, True),
        (OTHER_SHOWN, SHOWN, True),
        (SHOWN, SHOWN, False),
        (SHOWN, HIDDEN, True),  # with more context it is probable enough
        (OTHER_HIDDEN, SHOWN, False),  # what is shown is not taken away
        (HIDDEN, HIDDEN, False),
        (OTHER_HIDDEN, HIDDEN, True),
    ],
)
def test_a_revision_takes_away_nothing_that_is_shown(
    revised: GhostText, known: GhostText | None, is_taken: bool
) -> None:
    assert is_better(revised, known) is is_taken
