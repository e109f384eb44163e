"""The first minutes with Intarsia. Change what you like in this file."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    name: str
    price: float
    quantity: int


def count_words(text: str) -> dict[str, int]:
    """1. Ghost text: wait a moment on the empty line. Tab takes it, Escape does not."""
    counts: dict[str, int] = {}
    for word in text.split():
       

    return counts


def sorted_by_name(items: list[Item]) -> list[Item]:
    """2. Part by part: write `return sorted(`, then Ctrl+Right takes one word."""


def total_price(items: list[Item]) -> float:
    """3. Fill All Holes: return the sum of price times quantity over all items."""
    ...


def cheapest(items: list[Item]) -> Item:
    """Return the item with the lowest price."""
    ...


def longest_name(items: list[Item]) -> str:
    """4. Select the lines below and rewrite them: Intarsia: Rewrite Selection."""
    longest = ""
    for item in items:
        if len(item.name) > len(longest):
            longest = item.name
    return longest
