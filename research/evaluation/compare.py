"""Compare two runs, of holes or of edits, case by case: is the difference more than noise?

Only cases that both sides have met are compared.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.intervals import Resampling
from intarsia_research.evaluation.paired import (
    PairedMean,
    PairedShare,
    paired_mean,
    paired_share,
)

R = TypeVar("R")


class Discordant(msgspec.Struct, frozen=True, kw_only=True):
    """A case that only one side got right, in one figure."""

    case: str
    kind: str
    language: str
    figure: str  # "exact", "pass@1"
    is_right_in_second: bool
    truth: str
    wrong: str  # what the other side wrote; none: nothing


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The differences between two sides, by figure. A figure that no pair has is left out."""

    pairs: int
    left_out_of_first: int  # cases of the first side that the second side lacks
    left_out_of_second: int
    changed: int  # cases with the same id and another text: also left out
    shares: dict[str, PairedShare]
    means: dict[str, PairedMean]
    discordant: tuple[Discordant, ...]


class Pairs(Generic[R]):
    """The rows of two sides, case by case. Whole groups are resampled."""

    def __init__(
        self,
        first: Sequence[R],
        second: Sequence[R],
        *,
        key: Callable[[R], Hashable],
        group: Callable[[R], str],
        text: Callable[[R], object],
        cases: str,
    ) -> None:
        """Pair the rows of one key and one text. Raises EvaluationFault if there are none."""
        before, after = ({key(row): row for row in rows} for rows in (first, second))
        common = [case for case in before if case in after]
        met = [(before[case], after[case]) for case in common]
        self.pairs = [pair for pair in met if text(pair[0]) == text(pair[1])]
        if not self.pairs:
            raise EvaluationFault(
                f"these runs have no {cases} in common ({len(common)} with the same id and another "
                "text): compare runs on the same sets and files, with the same seed"
            )
        self._group = group
        self._drawn = Resampling([group(row) for row, _ in self.pairs])
        self._left_out = (len(before) - len(common), len(after) - len(common))
        self._changed = len(common) - len(self.pairs)

    def share(
        self, flag: Callable[[R], bool], of: Callable[[tuple[R, R]], bool] = lambda _: True
    ) -> PairedShare | None:
        """Compare how often something is true, of some pairs; None if there are none."""
        chosen = list(filter(of, self.pairs))
        flags = [(flag(one), flag(other)) for one, other in chosen]
        return paired_share(flags, [self._group(row) for row, _ in chosen])

    def mean(self, value: Callable[[R], float | None]) -> PairedMean | None:
        """Compare numbers of the pairs in which both sides have one."""
        return paired_mean([(value(one), value(other)) for one, other in self.pairs], self._drawn)

    def compared(
        self,
        shares: Mapping[str, PairedShare | None],
        means: Mapping[str, PairedMean | None],
        discordant: Sequence[Discordant],
    ) -> Comparison:
        """Return the comparison with these figures."""
        return Comparison(
            pairs=len(self.pairs),
            left_out_of_first=self._left_out[0],
            left_out_of_second=self._left_out[1],
            changed=self._changed,
            shares={name: share for name, share in shares.items() if share is not None},
            means={name: mean for name, mean in means.items() if mean is not None},
            discordant=tuple(discordant),
        )
