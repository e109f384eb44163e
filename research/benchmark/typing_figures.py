"""What became of the keys of a typist, and how that is told.

``answered`` counts any answer, also that nothing fits here; ``text`` an answer with text; ``shown``
that or the beginning of a text that is not final as a whole, but as far as it goes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from intarsia.research.benchmark.figures import Figure, percentile
from intarsia.research.benchmark.typing_keys import KEYS_PER_SECOND

PROMPT_MS = 300.0
"""What comes within this feels immediate."""


@dataclass(kw_only=True, slots=True)
class KeyFates:
    """Milliseconds from a key, of those keys before whose next one it came."""

    num_keys: int = 0
    answered_ms: list[float] = field(default_factory=list)
    text_ms: list[float] = field(default_factory=list)
    shown_ms: list[float] = field(default_factory=list)  # the first text, settled as far as it goes
    read: list[int] = field(default_factory=list)  # context tokens, of each answered by the engine


def figures_of(
    fates: KeyFates, *, key: str, who: str, way: str, num_places: int, draft: str
) -> list[Figure]:
    """``key`` begins the names; ``who`` the words. ``draft``: what counts as shown besides text."""
    method = (
        f"{fates.num_keys} keys at {num_places} places of the standard library, "
        f"{KEYS_PER_SECOND:g} a second, {way}"
    )
    within = f"within {PROMPT_MS:.0f} ms and before the next"
    shares = (
        ("prompt", f"keys answered within {PROMPT_MS:.0f} ms", fates.answered_ms, method),
        ("answered", "keys answered before the next", None, method),
        ("text", "keys with a whole text", fates.text_ms, f"{within}; not empty"),
        (
            "shown",
            "keys with a whole text or a draft",
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
