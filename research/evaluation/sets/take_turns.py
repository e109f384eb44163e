"""Draws from many sources so that languages, and kinds, come about equally often."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def take_turns(
    sources: Mapping[tuple[str, str], Iterator[T]],
    languages: Sequence[str],
    kinds: Sequence[str],
) -> Iterator[T]:
    """Yield one of each language in turn, each time of the next kind, until nothing is left.

    ``sources``: by language and kind. Where a language has no more of a kind, it gives the next.
    """
    left = {place: iter(source) for place, source in sources.items()}
    turn = 0
    while left:
        round_number, place = divmod(turn, len(languages))
        for step in range(len(kinds)):
            kind = kinds[(round_number + place + step) % len(kinds)]
            source = left.get((languages[place], kind))
            if source is None:
                continue
            try:
                drawn = next(source)
            except StopIteration:
                del left[languages[place], kind]
                continue
            yield drawn
            break
        turn += 1
