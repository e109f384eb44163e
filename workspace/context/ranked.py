"""Ranks definitions of other files by how likely the hole needs them.

What the code around the hole mentions comes first, then what shares rare words with it. Names that
are imported and not used yet are likely to be written next.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from intarsia.workspace.context.neighbourhood import Neighbourhood
from intarsia.workspace.symbols.symbols import Definition
from intarsia.workspace.words import words_in

Relation: TypeAlias = Literal["imported", "named", "receiver", "member", "module", "neighbour"]
"""How a definition is reached: its name is imported or named near the hole; it is a member of the
receiver's type or of such a class; it is in an imported module; it is beside an imported name."""

PRIORS: Mapping[Relation, float] = {
    "imported": 1.5,
    "named": 1.0,
    "receiver": 4.0,
    "member": 0.2,
    "module": 0.4,
    "neighbour": 0.0,
}
MENTION_WEIGHT = 2.0
OWNER_WEIGHT = 0.5
UNUSED_WEIGHT = 1.5
WORD_WEIGHT = 1.0
MAX_MENTION = 2.0
MIN_NEIGHBOUR_OVERLAP = 0.4
"""What is not imported must share this much with the hole's neighbourhood."""
PRIVATE_FACTOR = 0.25
CONSTRUCTORS = frozenset({"__init__", "constructor", "new", "New", "initialize", "init"})


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


def rank(reached: Iterable[Reached], neighbourhood: Neighbourhood) -> list[Ranked]:
    """Return the definitions that may be needed, the likeliest first; equals keep their order."""
    every = [one for one in reached if not _is_copied_parameter(one)]
    words = [words_in(f"{one.local} {one.definition.signature}") for one in every]
    rarity = _rarity(words)
    ranked = [
        Ranked(reached=one, score=_score(one, of_one, rarity, neighbourhood))
        for one, of_one in zip(every, words, strict=True)
    ]
    return sorted((one for one in ranked if one.score > 0), key=lambda one: -one.score)


def _score(
    one: Reached,
    words: frozenset[str],
    rarity: Mapping[str, float],
    neighbourhood: Neighbourhood,
) -> float:
    mentions, near = neighbourhood.mentions, neighbourhood.words
    mention = min(mentions.get(one.local, 0.0), MAX_MENTION)
    owner = min(mentions.get(one.owner, 0.0), MAX_MENTION) if one.owner else 0.0
    shared = sum(near[word] * rarity[word] for word in words & near.keys())
    overlap = WORD_WEIGHT * shared / math.sqrt(max(len(words), 1))
    if one.relation == "neighbour" and overlap + mention < MIN_NEIGHBOUR_OVERLAP:
        return 0.0
    score = (
        PRIORS[one.relation]
        + MENTION_WEIGHT * mention
        + OWNER_WEIGHT * owner * (2.0 if one.definition.name in CONSTRUCTORS else 1.0)
        + UNUSED_WEIGHT * one.is_unused
        + overlap
    )
    return score * (PRIVATE_FACTOR if _is_private(one.definition) else 1.0)


def _rarity(words: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the inverse document frequency of each word, about 1 for a word of one definition."""
    counts = Counter(word for each in words for word in each)
    most = math.log(1 + len(words))
    return {word: math.log(1 + len(words) / count) / most for word, count in counts.items()}


def _is_copied_parameter(one: Reached) -> bool:
    """Whether a field only keeps a parameter of the constructor, and shows nothing new."""
    definition = one.definition
    written = definition.signature.removeprefix("self.").removeprefix("this.")
    copied = f"{definition.name} = {definition.name}"
    return definition.kind == "field" and one.relation != "receiver" and written == copied


def _is_private(definition: Definition) -> bool:
    if definition.name in CONSTRUCTORS:
        return False
    return definition.name.startswith(("_", "#")) or definition.signature.startswith("private ")
