"""Ranks definitions of other files by how likely the hole needs them.

What the code around the hole mentions comes first, then what shares rare words with it. Names that
are imported and not used yet are likely to be written next.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from intarsia.workspace.context.neighbourhood import Neighbourhood
from intarsia.workspace.context.stub import CONSTRUCTORS
from intarsia.workspace.symbols.symbols import Definition
from intarsia.workspace.words import words_in

Relation: TypeAlias = Literal["imported", "named", "receiver", "member", "module", "neighbour"]
"""How a definition is reached: its name is imported or named near the hole; it is a member of the
receiver's type or of such a class; it is in an imported module; it is beside an imported name."""

_DECORATORS = re.compile(r"^(?:@[\w.]+(?:\([^()]*\))?\s+)+")

_ERROR = re.compile(r"(?:Error|Exception|Fault|Warning|Throwable)$")

PRIORS: Mapping[Relation, float] = {
    "imported": 2.5,
    "named": 1.0,
    "receiver": 4.0,
    "member": 0.2,
    "module": 0.4,
    "neighbour": 0.0,
}
MENTION_WEIGHT = 2.0
OWNER_WEIGHT = 0.3
UNUSED_WEIGHT = 2.0
ERROR_WEIGHT = 2.0
"""For an error where one is raised or caught."""
USED_WEIGHT = 0.5
"""For a member that the file uses anywhere: it is likely to use it again."""
WORD_WEIGHT = 1.0
MAX_MENTION = 2.0
MIN_NEIGHBOUR_OVERLAP = 0.4
"""Code that is not imported must share this much with the hole's neighbourhood."""
PRIVATE_FACTOR = 0.25
HALF_WORTH_CHARS = 300
"""A signature of this length must be twice as likely needed as a very short one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    """A definition of another file, and how it was reached. ``local`` is its name at the hole."""

    path: str
    definition: Definition
    relation: Relation
    local: str
    owner: str = ""  # of a member: the local name of its class; of a module's: that of the module
    is_unused: bool = False  # imported, and not used in the file yet


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """A definition with its score; higher is more likely needed."""

    reached: Reached
    score: float


def rank(
    reached: Iterable[Reached], neighbourhood: Neighbourhood, num_uses: Mapping[str, int]
) -> list[Ranked]:
    """Return the definitions that may be needed, the likeliest first; equals keep their order.

    ``num_uses``: how often each name is anywhere in the file with the hole.
    """
    every = [one for one in reached if not _shows_nothing_new(one)]
    headers = [_DECORATORS.sub("", one.definition.signature) for one in every]
    words = [words_in(f"{one.local} {it}") for one, it in zip(every, headers, strict=True)]
    rarity = _rarity(words)
    ranked = []
    for one, its in zip(every, words, strict=True):
        near = neighbourhood.words
        shared = sum(near[word] * rarity[word] for word in its & near.keys())
        overlap = WORD_WEIGHT * shared / math.sqrt(max(len(its), 1))
        bonus = _bonus(one, neighbourhood, is_used=num_uses.get(one.local, 0) > 0)
        score = _score(one, overlap, neighbourhood.mentions, bonus)
        if score > 0:
            ranked.append(Ranked(reached=one, score=score))
    return sorted(ranked, key=lambda one: -one.score)


def _bonus(one: Reached, neighbourhood: Neighbourhood, *, is_used: bool) -> float:
    is_member = one.relation in ("receiver", "member")
    is_expected = neighbourhood.expects_error and _is_error(one.definition)
    return (
        UNUSED_WEIGHT * one.is_unused
        + USED_WEIGHT * (is_used and is_member)
        + ERROR_WEIGHT * is_expected
    )


def _score(one: Reached, overlap: float, mentions: Mapping[str, float], bonus: float) -> float:
    mention = min(mentions.get(one.local, 0.0), MAX_MENTION)
    if one.relation == "neighbour" and overlap + mention + bonus < MIN_NEIGHBOUR_OVERLAP:
        return 0.0
    owner = min(mentions.get(one.owner, 0.0), MAX_MENTION) if one.owner else 0.0
    score = (
        PRIORS[one.relation]
        + MENTION_WEIGHT * mention
        + OWNER_WEIGHT * owner * (2.0 if one.definition.name in CONSTRUCTORS else 1.0)
        + overlap
        + bonus
    )
    score /= 1 + len(one.definition.signature) / HALF_WORTH_CHARS
    return score * (PRIVATE_FACTOR if _is_private(one) else 1.0)


def _is_error(definition: Definition) -> bool:
    names = (definition.name, *definition.bases)
    return definition.kind == "class" and any(map(_ERROR.search, names))


def _rarity(words: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the inverse document frequency of each word, about 1 for a word of one definition."""
    counts = Counter(word for each in words for word in each)
    most = math.log(1 + len(words))
    return {word: math.log(1 + len(words) / count) / most for word, count in counts.items()}


def _shows_nothing_new(one: Reached) -> bool:
    """Whether a field only keeps a parameter of the constructor, or a setter has a getter."""
    definition = one.definition
    if definition.signature.startswith(f"@{definition.name}."):
        return True
    written = definition.signature.removeprefix("self.").removeprefix("this.")
    copied = f"{definition.name} = {definition.name}"
    return definition.kind == "field" and one.relation != "receiver" and written == copied


def _is_private(one: Reached) -> bool:
    """Whether the hole can hardly use it; who imports a name may, whatever it is called."""
    definition = one.definition
    if one.relation in ("imported", "named") or definition.name in CONSTRUCTORS:
        return False
    return definition.name.startswith(("_", "#")) or definition.signature.startswith("private ")
