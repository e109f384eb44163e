"""Draw from many sources so that languages and kinds occur about equally often."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def take_turns(
    sources: Mapping[tuple[str, str], Iterator[T]],
    languages: Sequence[str],
    kinds: Sequence[str],
) -> Iterator[T]:
    """Yield one item of each language in turn, each time of the next kind, until all are used.

    ``sources``: by language and kind. If a language has no more of a kind, the next kind follows.
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
