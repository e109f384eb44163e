"""What the fills ahead of the user have brought: counts and seconds that add up."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class AheadCount:
    """The sum so far, or what one fill or one hit adds to it."""

    num_asked: int = 0
    num_hits: int = 0  # fills that answered a request
    spent_s: float = 0.0  # time of all fills
    used_s: float = 0.0  # time of the hits

    def plus(self, other: "AheadCount") -> "AheadCount":
        """Return the sum."""
        return AheadCount(
            num_asked=self.num_asked + other.num_asked,
            num_hits=self.num_hits + other.num_hits,
            spent_s=self.spent_s + other.spent_s,
            used_s=self.used_s + other.used_s,
        )


NO_COUNT = AheadCount()
"""What no fill has brought."""
