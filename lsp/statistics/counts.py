"""Counts of suggestions by language, and of requests without one by the kind of reason.

They hold no text, no name and no path. The languages are those of the product's own table, so that
the counts are bounded.
"""

from collections.abc import Mapping

import msgspec

from intarsia.infill.languages import LANGUAGES, PLAIN_TEXT

MAX_KINDS = 60
OTHER = "other"

_LANGUAGES = frozenset({PLAIN_TEXT.id, *(row.id for row in LANGUAGES)})


class LanguageCounts(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of one language. ``kept``: of ``ended``, those accepted half a minute ago or earlier."""

    shown: int = 0
    accepted: int = 0
    kept: int = 0
    ended: int = 0

    def plus(self, other: "LanguageCounts") -> "LanguageCounts":
        """Return the sum."""
        return LanguageCounts(
            shown=self.shown + other.shown,
            accepted=self.accepted + other.accepted,
            kept=self.kept + other.kept,
            ended=self.ended + other.ended,
        )


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """All counts. ``not_shown``: requests without a suggestion, by the kind of their reason."""

    languages: dict[str, LanguageCounts] = {}
    not_shown: dict[str, int] = msgspec.field(default_factory=dict, name="notShown")

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted."""
        return not (self.languages or self.not_shown)

    @property
    def total(self) -> LanguageCounts:
        """Return the counts of all languages together."""
        total = LanguageCounts()
        for counts in self.languages.values():
            total = total.plus(counts)
        return total

    def plus(self, other: "Counts") -> "Counts":
        """Return the sum, with unknown languages and too many kinds of reasons as others."""
        languages: dict[str, LanguageCounts] = {}
        for id, counts in (*self.languages.items(), *other.languages.items()):
            known = id if id in _LANGUAGES else OTHER
            languages[known] = languages.get(known, LanguageCounts()).plus(counts)
        return Counts(languages=languages, not_shown=_sum_of_kinds(self.not_shown, other.not_shown))


def _sum_of_kinds(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    kinds: dict[str, int] = {}
    for kind, number in (*one.items(), *other.items()):
        is_known = kind.isidentifier() and (kind in kinds or len(kinds) < MAX_KINDS)
        known = kind if is_known else OTHER
        kinds[known] = kinds.get(known, 0) + number
    return kinds
