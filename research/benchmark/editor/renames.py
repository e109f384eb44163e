"""Places in real files where a user renames a variable, and leaves its other uses as they are.

The choice is seeded: the same files give the same places.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

_ASSIGNMENT = re.compile(r"^[ \t]+([a-z_]\w{3,}) = ", re.MULTILINE)
_FEWEST_USES = 2  # further down
_LINES_BELOW = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class RenamePlace:
    """The name that ends at offset ``end`` of a text is used again below."""

    name: str
    end: int


def rename_place(text: str, chosen: random.Random) -> RenamePlace | None:
    """Return one place of a Python file, None if it has none."""
    places = list(_places(text))
    return chosen.choice(places) if places else None


def _places(text: str) -> Iterator[RenamePlace]:
    for match in _ASSIGNMENT.finditer(text):
        name = match.group(1)
        below = text[match.end() :].split("\n", _LINES_BELOW)[:_LINES_BELOW]
        uses = [line for line in below if re.search(rf"\b{name}\b", line)]
        if len(uses) >= _FEWEST_USES:
            yield RenamePlace(name=name, end=match.end(1))
