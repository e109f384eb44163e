"""While the user types, only what is probable enough to be kept is shown; on request, all of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from editor_clients import Page, neovim, open_document, page
from engine_watch import engine_once
from extended_client import notified, told_page

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import CanvasToken, Step
from intarsia.infill.calibration import IMPROBABLE, keep_probability, percent_of
from intarsia.infill.filling.plan import FillOptions, FillPlan, plan_at_cursor
from intarsia.infill.fitted_calibrations import CALIBRATIONS
from intarsia.infill.languages import language_for_id
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion
from intarsia.lsp.ghost_text import GhostText, RequestOutcome
from intarsia.lsp.requests.look_ahead import is_better
from intarsia.lsp.requests.suggest import ShownDraft
from intarsia.lsp.settings import Settings

TEXT, UNSURE = "alpha, beta", ["beta"]
"""The rule engine, which has the default model's name, gives ``beta`` a confidence of 0.3."""


def probability(*confidences: float) -> float:
    tokens = [ConfidentToken("x", confidence) for confidence in confidences]
    found = keep_probability(tokens, None, CALIBRATIONS["qwen2.5-coder-0.5b"].while_typing)
    assert found is not None
    return found


WHOLE, BEGINNING = probability(1, 1, 0.3), probability(1)
BETWEEN = round(50 * (WHOLE + BEGINNING))
ABOVE = 100  # no text is certain


@asynccontextmanager
async def typing(runtime: Address, threshold: str | int, **how: Any) -> AsyncIterator[Page]:
    how = {"text": TEXT, "unsure": UNSURE, **how}
    options = {"showThreshold": threshold, "fillAhead": "off", **how.pop("options", {})}
    async with page(runtime, "y = ", options=options, **how) as user:
        yield user


async def num_fills(runtime: Address, wanted: int) -> None:
    await engine_once(runtime, lambda status: status.num_fills == wanted)


async def test_a_language_may_have_another_threshold(runtime: Address) -> None:
    options = {"languages": {"javascript": {"showThreshold": 0}}}
    async with typing(runtime, ABOVE, options=options) as user:
        assert await user.shown(0, 4) == []
        script = open_document(user.client, "a.js", "y = ", "javascript")
        assert await Page(user.client, script).shown(0, 4) == [TEXT]


async def test_on_request_all_is_shown(runtime: Address) -> None:
    async with typing(runtime, ABOVE, text="alpha{alternative}, beta") as user:
        asked = await user.shown(0, 4, is_invoked=True)
        assert asked == [f"alpha{number}, beta" for number in range(3)]


async def test_an_improbable_text_is_hidden_and_shown_on_request_without_another_fill(runtime):
    async with typing(runtime, ABOVE) as user:
        assert await user.shown(0, 4) == []
        reason = f"no suggestion: the text would probably not be kept: {100 * WHOLE:.0f} %"
        assert reason in user.log
        assert await user.shown(0, 4) == []
        await num_fills(runtime, 1)
        assert (await user.shown(0, 4, is_invoked=True))[0] == TEXT


async def test_the_probable_beginning_is_shown_and_typing_along_keeps_it(runtime: Address) -> None:
    async with typing(runtime, BETWEEN) as user:
        for typed, sign in enumerate("alpha"):
            assert await user.shown(0, 4 + typed) == ["alpha"[typed:]]
            user.insert(0, 4 + typed, sign)
        await num_fills(runtime, 1)
        await user.shown(0, 9)  # the rest is judged again
        await num_fills(runtime, 2)


async def test_the_menu_gets_no_improbable_item(runtime: Address) -> None:
    async with typing(runtime, ABOVE, who=neovim()) as user:
        assert not (await user.menu(0, 4)).items


@pytest.mark.parametrize(("threshold", "has_drafts"), [(0, True), (ABOVE, False)])
@pytest.mark.parametrize("asked", [False, True])
async def test_a_draft_of_a_hidden_text_does_not_flash(runtime, threshold, has_drafts, asked):
    options = {"showThreshold": threshold}
    model = {"text": TEXT, "unsure": ["alpha", "beta"], "step_seconds": 0.06}
    async with told_page(runtime, "y = ", "drafts", options=options, **model) as (user, messages):
        await engine_once(runtime, lambda status: status.state == "ready")
        await user.shown(0, 4, is_invoked=asked)
        assert bool(notified(messages, "intarsia/draft")) is (has_drafts or asked)


async def test_a_draft_shows_as_settled_only_what_the_answer_begins_with(runtime):
    options = {"showThreshold": BETWEEN}
    body = "alpha(1)\n    beta(2)\n    return gamma"
    model = {"text": body, "unsure": ["gamma"], "step_seconds": 0.06}
    source = "def f():\n    \n"
    async with told_page(runtime, source, "drafts", options=options, **model) as (user, messages):
        await engine_once(runtime, lambda status: status.state == "ready")
        assert await user.shown(1, 4) == ["alpha(1)\n    beta(2)"]
        drafts = [draft["tokens"] for draft in notified(messages, "intarsia/draft")]
        settled = ["".join(it["text"] for it in draft if it["settled"]) for draft in drafts]
        assert list(dict.fromkeys(settled)) == ["alpha", "alpha(1)", "alpha(1)\n    beta(2)"]
        texts = ["".join(it["text"] for it in draft) for draft in drafts]
        assert list(dict.fromkeys(texts)) == [body, "alpha(1)\n    beta(2)"]  # no more can come


@pytest.mark.parametrize(
    ("read", "answered"),
    [
        (NoSuggestion(reason="it does not parse"), "alpha(1)"),
        (GhostText("alpha(1)\nbeta", (), 0), "alpha(1)"),  # hidden
        (GhostText("alpha(1)\nbeta(2)\ngamma", (), 16), "alpha(1)\nbeta(2)"),
        (GhostText("gamma", ()), "alpha(1)"),
    ],
)
def test_an_answer_keeps_what_its_draft_has_shown(read, answered):
    session: Any = SimpleNamespace(status=SimpleNamespace(model="qwen2.5-coder-0.5b"))
    plan = plan_at_cursor("y = ", 4, language_for_id("python"), FillOptions())
    assert isinstance(plan, FillPlan)
    draft = ShownDraft(session, plan, percent_of(Settings().show_threshold))
    assert draft.kept_in(read) == read  # nothing was shown
    guess = CanvasToken("\nbeta", 0.5, False)
    assert draft.of(Step(id=1, step=1, tokens=(guess,))) is None
    step = Step(id=1, step=2, tokens=(CanvasToken("alpha(1)", 1.0, True), guess))
    assert draft.of(step) == step
    kept = draft.kept_in(read)
    assert isinstance(kept, GhostText)
    assert kept.shown.text == answered


def ghost(text: str, shown_length: int | None) -> GhostText:
    return GhostText(text, (ConfidentToken(text, 0.5),), shown_length, 0.3)


def test_an_outcome_tells_the_kind_of_reason() -> None:
    outcome = RequestOutcome(ghosts=(ghost("alpha", 0),)).unasked(40)
    assert outcome.ghosts == ()
    assert outcome.kind == IMPROBABLE
    assert "30 %" in (outcome.reason or "")
    assert outcome.for_status("file:///a.py").unsure


def test_an_outcome_that_has_nothing_keeps_its_reason() -> None:
    outcome = RequestOutcome(reason="nothing to fill")
    assert outcome.unasked(40) == outcome
    assert not outcome.for_status("file:///a.py").unsure


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
def test_a_revision_takes_away_nothing_that_is_shown(revised, known, is_taken):
    assert is_better(revised, known) is is_taken
