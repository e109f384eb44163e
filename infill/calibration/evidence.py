"""What the confidences of a text's tokens say together.

A probability that grows with each of these figures never falls when the beginning of the text is
typed: the confirmed tokens drop out of the sums.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.infill.confidence import ConfidentToken

_LEAST = 1e-6
"""No token counts as less probable: one surprise decides, and how great it is says no more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Logarithms of probabilities, in nats and at most 0."""

    total: float  # of all tokens
    weakest: float  # of the least probable token
    end: float  # that the text ends here; 0 for a text that was cut, as it claims no end


def evidence_of(
    tokens: Sequence[ConfidentToken], end_confidence: float | None = None
) -> Evidence | None:
    """Return the evidence of a text in tokens; None where a confidence is not known.

    ``end_confidence`` is the probability that the text ends after them, None where that is left
    open.
    """
    logs = []
    for token in tokens:
        if token.confidence is None:
            return None
        logs.append(_log(token.confidence))
    end = 0.0 if end_confidence is None else _log(end_confidence)
    return Evidence(total=sum(logs), weakest=min(logs, default=0.0), end=end)


def _log(confidence: float) -> float:
    return math.log(min(1.0, max(_LEAST, confidence)))
