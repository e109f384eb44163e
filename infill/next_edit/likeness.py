"""Whether lines and what would replace them are versions of the same code.

After lines were added, a model may want to write the same lines in the place of others. That is no
correction of these.
"""

import re
from collections import Counter
from collections.abc import Iterable

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
