"""How many edits were looked at, and what became of the offers: counts that add up."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class NextEditCount:
    """The sum so far, or what one event adds to it."""

    num_settled: int = 0  # edits that were looked at
    num_offered: int = 0
    num_accepted: int = 0
    num_dismissed: int = 0

    def plus(self, other: "NextEditCount") -> "NextEditCount":
        """Return the sum."""
        return NextEditCount(
            num_settled=self.num_settled + other.num_settled,
            num_offered=self.num_offered + other.num_offered,
            num_accepted=self.num_accepted + other.num_accepted,
            num_dismissed=self.num_dismissed + other.num_dismissed,
        )


NO_NEXT_EDITS = NextEditCount()
"""The count of no edit."""
