"""How the rows of one pass are shared out: more masks behind the outcomes that are likely.

A pass over a few query rows costs what a pass over one costs, as reading the weights bounds both;
beyond that each row costs. Confidences of a proposal come in, masks per outcome go out.
"""

from collections.abc import Sequence

_DEPTH_DECAY = 0.6  # chance that a proposed token is kept, given that those before it were


def share_masks(
    confidences: Sequence[float], *, num_rows: int, max_masks: int, is_whole: bool = False
) -> list[int]:
    """Return the masks behind each outcome (0, 1, … all proposed tokens kept).

    ``num_rows`` bounds the anchor row, the proposal's rows and all masks together. ``is_whole``:
    with all proposed tokens kept nothing is left to do.
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
    """Return the chance that exactly 0, 1, … all tokens are kept."""
    outcomes, kept = [], 1.0
    for confidence in confidences:
        outcomes.append(kept * (1 - confidence))
        kept *= confidence
    return [*outcomes, kept]
