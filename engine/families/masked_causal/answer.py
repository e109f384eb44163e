"""One answer to a hole, as ids and as the tokens that a client gets."""

from dataclasses import dataclass
from statistics import fmean

from intarsia.engine.decoding.tokens import HoleTokens
from intarsia.engine.ipc.messages import CanvasToken


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Answer:
    """What was decoded into one hole."""

    hole: HoleTokens
    tokens: tuple[CanvasToken, ...]
    end_confidence: float | None  # None: the hole has not ended

    @property
    def text(self) -> str:
        """The answer's text."""
        return "".join(token.text for token in self.tokens)

    @property
    def mean_entropy(self) -> float:
        """Nats per committed token."""
        return fmean(self.hole.entropies[: self.hole.num_committed] or [0.0])
