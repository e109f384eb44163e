"""Compare what systems wrote, and tell a near tie, which rounding decides, from a difference.

A judge tells: the same weights in float32. A step between two numbers of bfloat16 is as large as
0.125 for logits from 16 on, so that such a system's own numbers say less.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.families.protocol import common_prefix_length
from intarsia_research.peers.same_texts.holes import Hole
from intarsia_research.peers.same_texts.writers import Writer, WrittenHole

NEAR_TIE_NATS = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What one system chose at a place, and the log-probabilities in nats that it gives.

    ``other_log_p`` is that of the other system's choice; None if it is not among the likeliest.
    """

    text: str
    token: int
    log_p: float
    other_log_p: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A hole that two systems wrote differently, from the token at ``position`` on.

    ``gap`` is how many nats apart the judge finds the two tokens; infinite if one is not among its
    likeliest.
    """

    case: str
    position: int
    first: Choice
    second: Choice
    gap: float

    @property
    def is_near_tie(self) -> bool:
        """Whether rounding may choose between the two."""
        return self.gap < NEAR_TIE_NATS


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two systems: how many texts are equal, and each other one."""

    names: tuple[str, str]
    num_equal: int
    differences: tuple[Difference, ...]

    @property
    def num_near_ties(self) -> int:
        """Holes that differ by rounding only."""
        return sum(difference.is_near_tie for difference in self.differences)


def compare(
    holes: Sequence[Hole], systems: Sequence[tuple[Writer, Sequence[WrittenHole]]], judge: Writer
) -> list[Pair]:
    """Compare each two systems by the holes that they wrote. Raises RemoteError."""
    pairs = []
    for (first, ours), (second, theirs) in itertools.combinations(systems, 2):
        differences = [
            _difference(hole, ((first, one), (second, other)), judge)
            for hole, one, other in zip(holes, ours, theirs, strict=True)
            if one.text != other.text
        ]
        pairs.append(
            Pair(
                names=(first.name, second.name),
                num_equal=len(holes) - len(differences),
                differences=tuple(differences),
            )
        )
    return pairs


def _difference(
    hole: Hole,
    sides: tuple[tuple[Writer, WrittenHole], tuple[Writer, WrittenHole]],
    judge: Writer,
) -> Difference:
    texts = [written for _, written in sides]
    position = common_prefix_length(texts[0].ids, texts[1].ids)
    prompt = [*hole.task.context, *texts[0].ids[:position]]
    likely = [writer.likely(prompt) for writer, _ in sides]
    tokens = [
        # A server may keep to itself what ended its text: then it is its likeliest token.
        written.ids[position] if position < len(written.ids) else max(own, key=lambda t: own[t])
        for written, own in zip(texts, likely, strict=True)
    ]
    first, second = (
        Choice(
            text=texts[side].text,
            token=tokens[side],
            log_p=likely[side].get(tokens[side], float("-inf")),
            other_log_p=likely[side].get(tokens[1 - side]),
        )
        for side in (0, 1)
    )
    judged = judge.likely(prompt)
    gap = abs(judged[tokens[0]] - judged[tokens[1]]) if judged.keys() >= {*tokens} else float("inf")
    return Difference(case=hole.case, position=position, first=first, second=second, gap=gap)
