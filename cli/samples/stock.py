"""What is left in a shop after a day of sales."""

from collections import Counter


def remaining(stock: dict[str, int], sales: list[str]) -> dict[str, int]:
    """Return how many of each article are left."""
    sold = Counter(sales)
    left = {}
    for article, count in stock.items():
        
    return left


def to_reorder(stock: dict[str, int], minimum: int) -> list[str]:
    """Return the articles of which fewer than the minimum are left."""
    return sorted(article for article, count in stock.items() if count < minimum)
