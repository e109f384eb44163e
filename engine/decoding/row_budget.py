"""Share out the rows of one pass: more masks after the outcomes that are likely.

A pass over a few query rows costs the same as a pass over one, because reading the weights bounds
both. Beyond that each row costs.
"""

from collections.abc import Sequence

_DEPTH_DECAY = 0.6  # chance that a proposed token is accepted, given that those before it were


def share_masks(
    confidences: Sequence[float], *, num_rows: int, max_masks: int, is_whole: bool = False
) -> list[int]:
    """Return the number of masks after each outcome (0, 1, … all proposed tokens accepted).

    ``num_rows`` bounds all rows: the last committed token, the proposal and the masks. ``is_whole``
    means that the proposal completes the hole, so no masks follow if all of it is accepted.
    """
    likelihoods = _outcomes(confidences)
    masks = [0] * len(likelihoods)
    for _ in range(num_rows - len(likelihoods)):
        gains = [
            (likelihood * _DEPTH_DECAY**num, -j)
            for j, (likelihood, num) in enumerate(zip(likelihoods, masks, strict=True))
            if num < max_masks and not (is_whole and j == len(confidences))
        ]
        if not gains:
            break
        masks[-max(gains)[1]] += 1
    return masks


def _outcomes(confidences: Sequence[float]) -> list[float]:
    """Return the probability that exactly 0, 1, … all tokens are accepted."""
    outcomes, accepted = [], 1.0
    for confidence in confidences:
        outcomes.append(accepted * (1 - confidence))
        accepted *= confidence
    return [*outcomes, accepted]
