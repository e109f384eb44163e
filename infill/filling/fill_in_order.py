"""Fills places of one text in file order, each seeing the fills before it; or rewrites a selection.

Each function returns what became of a place. A place that gets no fill keeps its text.
"""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from intarsia.infill.filling.options import FillContext
from intarsia.infill.filling.outcome import (
    FilledPlace,
    FillResult,
    Place,
    Selection,
    open_place,
    run_in,
)
from intarsia.infill.filling.plan import FillPlan, plan_fill
from intarsia.infill.holes.doc_comment import undocumented
from intarsia.infill.imports.lost_name import lost_name
from intarsia.infill.replacement import Replacement
from intarsia.infill.suggestion import NoSuggestion, Suggestion

MAX_DRAFT_CHARS = 6_000
"""The longest selection that is rewritten: the model holds all of it in one canvas."""


async def fill_in_order(
    context: FillContext, text: str, places: Sequence[Place]
) -> AsyncIterator[FilledPlace]:
    """Fill one place after the other, each in the text that the fills before it leave."""
    current = text
    for place in places:
        filled_place = await fill_place(context, current, place, shift=len(current) - len(text))
        current = filled_place.result
        yield filled_place


async def fill_place(
    context: FillContext, text: str, place: Place, *, shift: int = 0
) -> FilledPlace:
    """Fill a place of a text in which it has moved by ``shift`` characters."""
    opened = open_place(place, text, context.language, shift=shift)
    if isinstance(opened, NoSuggestion):
        return FilledPlace(place=place, text=text, shift=shift, opened=None, outcome=opened)
    plan = plan_fill(opened.shown, opened.hole, context.language, context.options)
    num_candidates = context.options.num_candidates if isinstance(place, Selection) else 1
    outcome = await run_in(context, plan, opened, num_candidates=num_candidates)
    return FilledPlace(place=place, text=text, shift=shift, opened=opened, outcome=outcome)


async def fill_selection(context: FillContext, text: str, selection: Selection) -> FilledPlace:
    """Replace the selection by what the model writes between its surroundings."""
    return _unless_unchanged(await fill_place(context, text, selection))


async def write_documentation(context: FillContext, text: str, within: Selection) -> FilledPlace:
    """Write one line of documentation for the function that a selection or cursor is in."""
    place = undocumented(text, within.start, within.end, context.language)
    opened = place if isinstance(place, NoSuggestion) else open_place(place, text, context.language)
    if isinstance(place, NoSuggestion) or isinstance(opened, NoSuggestion):
        why = opened if isinstance(opened, NoSuggestion) else place
        assert isinstance(why, NoSuggestion), "one of both is"
        return FilledPlace(place=within, text=text, shift=0, opened=None, outcome=why)
    plan = plan_fill(opened.shown, opened.hole, context.language, context.options)
    outcome = await run_in(context, plan, opened, check=_whole_sentences)
    return FilledPlace(place=place, text=text, shift=0, opened=opened, outcome=outcome)


_SENTENCES = re.compile(r".*[.!?](?=\s|$)")


def _whole_sentences(suggestion: Suggestion) -> Suggestion:
    """Leave out a sentence that would go on in another line; a single one stays."""
    whole = _SENTENCES.match(suggestion.text)
    return suggestion if whole is None else replace(suggestion, text=whole[0])


async def rewrite_selection(
    context: FillContext, text: str, selection: Selection, noise: float
) -> FilledPlace:
    """Mask a share ``noise`` (above 0, up to 1) of the selection's tokens and decode them again."""
    refusal = _why_no_rewrite(text[selection.start : selection.end])
    opened = refusal or open_place(selection, text, context.language)
    if isinstance(opened, NoSuggestion):
        return FilledPlace(place=selection, text=text, shift=0, opened=None, outcome=opened)
    plan = plan_fill(opened.shown, opened.hole, context.language, context.options)

    def keeps_names(suggestion: Suggestion) -> Suggestion | NoSuggestion:
        return _unless_name_is_lost(plan, suggestion)

    outcome = await run_in(context, plan, opened, noise=noise, check=keeps_names)
    return _unless_unchanged(
        FilledPlace(place=selection, text=text, shift=0, opened=opened, outcome=outcome)
    )


def _why_no_rewrite(draft: str) -> NoSuggestion | None:
    if not draft.strip():
        return NoSuggestion(reason="nothing to rewrite is selected: select some code")
    if len(draft) > MAX_DRAFT_CHARS:
        return NoSuggestion(
            reason=f"the selection is too long to be rewritten: {len(draft):,} characters, and "
            f"{MAX_DRAFT_CHARS:,} at most"
        )
    return None


def _unless_name_is_lost(plan: FillPlan, suggestion: Suggestion) -> Suggestion | NoSuggestion:
    change = Replacement(start=suggestion.start, end=suggestion.end, new=suggestion.text)
    name = lost_name(plan.text, change, plan.language)
    if name is None:
        return suggestion
    reason = f"`{name}`, which the selection defined and the file uses, would have no definition"
    return NoSuggestion(reason=reason)


def _unless_unchanged(filled_place: FilledPlace) -> FilledPlace:
    """Turn an edit that changes nothing into a reason."""
    change, outcome = filled_place.change, filled_place.outcome
    if change is None or filled_place.text[change.start : change.end] != change.new:
        return filled_place
    assert isinstance(outcome, FillResult), "only an answer makes a change"
    unchanged = NoSuggestion(reason="the model would write the same")
    return replace(filled_place, outcome=replace(outcome, suggestion=unchanged))
