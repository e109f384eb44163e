"""An offer: a correction that passes the show rule, as a replacement of whole lines of the text.

A likelier line is no reason: odd lines can always be made likelier. What counts is the *double
difference*, the part of the gain that is due to the user's edit. The likeliest place is asked for
first, and alone, below the edit and then above it: so a user sees it soon.
"""

import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from intarsia.engine.ipc.messages import FindNextEdits, NextEdit, NextEdits
from intarsia.infill.imports.unbound import lost_name
from intarsia.infill.languages import Language
from intarsia.infill.next_edit.plan import Direction, NextEditPlan, line_offsets
from intarsia.infill.next_edit.settled_edit import LineRange, plain_lines
from intarsia.infill.replacement import Replacement
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import BYTE_ORDER_MARK, first_hidden, newline_of
from intarsia.infill.syntax.tree import num_errors, parse, parse_edited

Level: TypeAlias = Literal["sure", "balanced", "bold"]
"""How sure an offer is. Each level has the offers of those before it too."""

LEVELS: Mapping[Level, int] = {"sure": 0, "balanced": 1, "bold": 2}
"""The levels and their order, the surest first."""


MIN_GAIN = 0.0
BOLD_DOUBLE_DIFFERENCE = 4.0
BALANCED_DOUBLE_DIFFERENCE = 7.0
BALANCED_LOG_P = -2.0
SURE_LOG_P = -1.0
"""Numbers above which a correction is shown, in nats; ``SURE_LOG_P`` holds without agreement."""


def double_difference(edit: NextEdit) -> float:
    """Return the part of the gain that is due to the user's edit, in nats."""
    return edit.gain - edit.gain_before


def level_of(edit: NextEdit, *, is_deletion: bool) -> Level | None:
    """Return the surest level that shows a correction, None if none does.

    ``is_deletion``: it only removes lines. NaN passes no threshold.
    """
    difference = double_difference(edit)
    if not (edit.gain > MIN_GAIN and difference > BOLD_DOUBLE_DIFFERENCE):
        return None
    is_likely = edit.log_p > BALANCED_LOG_P
    is_balanced = difference > BALANCED_DOUBLE_DIFFERENCE and is_likely
    if is_deletion or not is_balanced:
        return "bold"
    return "sure" if edit.is_agreed or edit.log_p > SURE_LOG_P else "balanced"


def is_shown(level: Level, least: Level) -> bool:
    """Whether an offer of this level is among those of the level that the user has chosen."""
    return LEVELS[level] <= LEVELS[least]


MIN_SHARE = 0.4
"""Of the words of the shorter text that the other must have too. Right corrections of commits have
at least 0.5."""

_WORD = re.compile(r"\w+")


def is_alike(old: Iterable[str], new: Iterable[str]) -> bool:
    """Whether one text may be a correction of the other.

    An insertion and a deletion always may, and so may one word in the place of another.
    """
    before, after = _words(old), _words(new)
    fewest = min(before.total(), after.total())
    if fewest == 0 or before.total() == after.total() == 1:
        return True
    return (before & after).total() >= MIN_SHARE * fewest


def _words(lines: Iterable[str]) -> Counter[str]:
    return Counter(word for line in lines for word in _WORD.findall(line))


@dataclass(frozen=True, kw_only=True, slots=True)
class NextEditOffer:
    """``new_lines``, without line ends, take the place of the whole ``lines``.

    As offsets: ``text``, with the source's line ends, replaces ``source[start:end]``. ``gain`` and
    ``double_difference`` are in nats.
    """

    lines: LineRange
    new_lines: tuple[str, ...]
    start: int
    end: int
    text: str
    gain: float
    double_difference: float
    level: Level
    is_renamed: bool = False  # a use of a renamed declaration, found without a model

    @property
    def is_sure(self) -> bool:
        return self.level == "sure"

    def applied_to(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]


def read_offer(plan: NextEditPlan, edit: NextEdit) -> NextEditOffer | NoSuggestion:
    """Return the offer that the engine's correction makes, or why it makes none."""
    trimmed = _trimmed(plan, edit)
    if isinstance(trimmed, NoSuggestion):
        return trimmed
    lines, new = trimmed
    if not plan.may_change(lines):
        return NoSuggestion(reason="the correction is where nothing may change")
    if not is_alike(plain_lines(plan.text)[lines.start : lines.end], new):
        return NoSuggestion(reason="the correction has little in common with its lines")
    if first_hidden("\n".join(new), plan.text) is not None:
        return NoSuggestion(reason="the correction has invisible characters")
    level = level_of(edit, is_deletion=not "".join(new).strip())
    if level is None:
        return NoSuggestion(reason="the text would hardly become likelier by the edit")
    offer = _placed(plan.text, lines, new, edit, "bold" if plan.is_elsewhere else level)
    if plan.is_elsewhere:
        change = Replacement(start=offer.start, end=offer.end, new=offer.text)
        if (name := lost_name(plan.text, change, plan.language)) is not None:
            return NoSuggestion(reason=f"`{name}`, which that file uses, would have no definition")
    if offer.applied_to(plan.text) == plan.text:
        return NoSuggestion(reason="the correction changes nothing")
    if not _parses_no_worse(plan.text, offer, plan.language):
        return NoSuggestion(reason="the text would parse worse than before")
    return offer


def best_first(offers: Iterable[NextEditOffer]) -> tuple[NextEditOffer, ...]:
    """Return the offers, the surest first. Of two at the same lines, the better one stays."""
    kept: list[NextEditOffer] = []
    for offer in sorted(offers, key=lambda it: (LEVELS[it.level], -it.double_difference)):
        if not any(offer.lines.touches(better.lines) for better in kept):
            kept.append(offer)
    return tuple(kept)


def _trimmed(plan: NextEditPlan, edit: NextEdit) -> tuple[LineRange, Sequence[str]] | NoSuggestion:
    """Return the lines of the text that change, and the new lines without their line ends."""
    present = [line.removesuffix("\n") for line in plain_lines(plan.text)]
    start = plan.first_line + edit.first_line
    end = start + edit.num_lines
    if not (plan.first_line <= start <= end <= len(present)):
        return NoSuggestion(reason="the correction is outside the text")
    new = [line.removesuffix("\n") for line in plain_lines(edit.text)]
    old = present[start:end]
    while old and new and old[0] == new[0]:
        del old[0], new[0]
        start += 1
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
        end -= 1
    if not old and not new:
        return NoSuggestion(reason="the correction changes nothing")
    return LineRange(start=start, end=end), new


def _placed(
    source: str, lines: LineRange, new: Sequence[str], edit: NextEdit, level: Level
) -> NextEditOffer:
    """Return the offer with the line ends, byte order mark and last line of the source."""
    offsets = line_offsets(source)
    start, end = offsets[lines.start], offsets[lines.end]
    newline = newline_of(source)
    text = "".join(line + newline for line in new)
    if end == len(source) and not source.endswith(("\n", "\r")):
        text = text.removesuffix(newline)
        if start == end and source:  # after a last line without line end
            text = newline + text
        elif not new and start > 0:  # the line end above goes with the last line
            start -= 2 if source[:start].endswith("\r\n") else 1
    if start == 0 and source.startswith(BYTE_ORDER_MARK):
        start, end = 1, max(1, end)
    return NextEditOffer(
        lines=lines,
        new_lines=tuple(new),
        start=start,
        end=end,
        text=text,
        gain=edit.gain,
        double_difference=double_difference(edit),
        level=level,
    )


def _parses_no_worse(source: str, offer: NextEditOffer, language: Language) -> bool:
    """Whether the text with the offer has no more parse errors than without it."""
    syntax = parse(source, language)
    if syntax is None:
        return True
    changed = parse_edited(syntax, offer.start, offer.end, offer.text)
    return changed is not None and num_errors(changed) <= num_errors(syntax)


AskNextEdits: TypeAlias = Callable[[FindNextEdits], Awaitable[NextEdits | NoSuggestion]]
"""Sends the request and waits for the answer. Where there is none, returns the reason or raises."""

MAX_PLACES = 2
"""The most places that are corrected, if the first one is offered."""

_DIRECTIONS: tuple[Direction, ...] = ("below", "above")


@dataclass(frozen=True, kw_only=True, slots=True)
class NextEditResult:
    """The offers, best first; where there are none, ``reason`` says why."""

    offers: tuple[NextEditOffer, ...] = ()
    reason: str | None = None
    ms: float = 0.0  # in the engine, so far


async def find_offers(
    ask: AskNextEdits, plan: NextEditPlan, level: Level, model: str | None = None
) -> AsyncIterator[NextEditResult]:
    """Yield what to offer at this level: the likeliest place, then it again with further ones.

    The text above is searched if there is nothing below. Renamed uses are known without the engine.
    """
    reason, ms = "no other line may change", 0.0
    for direction in _DIRECTIONS:
        if not plan.has_lines(direction):
            continue
        num_offers = 0
        for max_places in (1, MAX_PLACES):
            answer = await ask(plan.request(direction, model, max_places=max_places))
            if isinstance(answer, NoSuggestion):
                if not num_offers:
                    yield NextEditResult(reason=answer.reason, ms=ms)
                return
            ms += answer.ms
            read = [read_offer(plan, edit) for edit in answer.edits]
            offers = best_first(
                it for it in read if not isinstance(it, NoSuggestion) and is_shown(it.level, level)
            )
            if len(offers) <= num_offers:
                break
            num_offers = len(offers)
            yield NextEditResult(offers=offers, ms=ms)
        if num_offers:
            return
        reason = _why_none(read)
    yield NextEditResult(reason=reason, ms=ms)


def _why_none(read: list[NextEditOffer | NoSuggestion]) -> str:
    """Return why an answer without an offer at the chosen level has none."""
    if not read:
        return "every other line fits the edit, or no correction was found"
    for it in read:
        if isinstance(it, NoSuggestion):
            return it.reason
    return "the corrections are not sure enough for this level"
