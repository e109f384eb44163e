"""The results for the keys of a typist, and their figures.

``answered`` counts any answer, also an empty one; ``text`` an answer with text; ``shown`` an answer
with text or a draft with a final beginning.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from intarsia_research.benchmark.editor.typing_keys import KEYS_PER_SECOND
from intarsia_research.benchmark.figures import Figure
from intarsia_research.evaluation.intervals import percentile

PROMPT_MS = 300.0
"""An answer within this time feels immediate."""


@dataclass(kw_only=True, slots=True)
class KeyFates:
    """Milliseconds from key to result, of the keys with a result before the next key."""

    num_keys: int = 0
    answered_ms: list[float] = field(default_factory=list)
    text_ms: list[float] = field(default_factory=list)
    shown_ms: list[float] = field(default_factory=list)  # to the first text, settled so far
    read: list[int] = field(default_factory=list)  # context tokens read, per answer of the engine


def figures_of(
    fates: KeyFates, *, key: str, who: str, way: str, num_places: int, draft: str
) -> list[Figure]:
    """Return the figures.

    ``key`` begins their names, ``who`` their words. ``draft``: what counts as shown besides text.
    """
    method = (
        f"{fates.num_keys} keys at {num_places} places of the standard library, "
        f"{KEYS_PER_SECOND:g} a second, {way}"
    )
    within = f"within {PROMPT_MS:.0f} ms and before the next"
    shares = (
        ("prompt", f"keys answered within {PROMPT_MS:.0f} ms", fates.answered_ms, method),
        ("answered", "keys answered before the next", None, method),
        ("text", "keys with a complete text", fates.text_ms, f"{within}; not empty"),
        (
            "shown",
            "keys with a complete text or a draft",
            fates.shown_ms,
            f"{within}; {draft}",
        ),
    )
    return [
        *(
            Figure(
                name=f"{key}_{name}_share",
                words=who + words,
                value=_percent(fates, fates.answered_ms if waits is None else _prompt(waits)),
                unit="%",
                method=how,
            )
            for name, words, waits, how in shares
        ),
        *_times(key, f"{who}key to answer", fates.answered_ms, "answered"),
        *_times(f"{key}_shown", f"{who}key to first text", fates.shown_ms, "shown something"),
    ]


def _percent(fates: KeyFates, waits: Sequence[float]) -> float:
    return 100 * len(waits) / max(1, fates.num_keys)


def _prompt(waits: Sequence[float]) -> list[float]:
    return [ms for ms in waits if ms <= PROMPT_MS]


def _times(key: str, words: str, waits: Sequence[float], what: str) -> Iterator[Figure]:
    for percent in (50, 95, 99):
        yield Figure(
            name=f"{key}_p{percent}_ms",
            words=f"{words}, p{percent}",
            value=percentile(waits, percent) if waits else None,
            unit="ms",
            method=f"of the {len(waits)} keys that were {what} before the next",
        )
