"""Ask a server for one canvas, and read its answer: here the pins are put back."""

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from intarsia.engine.diffusion.candidate_lengths import NUM_SCORED
from intarsia.engine.families.diffusion_gemma.answer import HoleDraft
from intarsia.engine.families.diffusion_gemma.canvas.layout import HoleLayout
from intarsia.engine.remote.dialects.entropy import entropy_of
from intarsia.engine.remote.dialects.generation import NewToken, Reading, UnusableAnswer
from intarsia.engine.remote.dialects.vllm_canvas import CanvasRequest, VllmCanvas
from intarsia.engine.remote.fill.link import ServerLink
from intarsia.engine.remote.http.exchange import unusable


@dataclass(frozen=True, kw_only=True, slots=True)
class CanvasAnswer:
    """A canvas as the server wrote it. ``ids`` have the pins of the request, ``tokens`` may not."""

    tokens: tuple[NewToken, ...]
    ids: tuple[int, ...]
    reading: Reading | None = None
    model: str | None = None

    def hole(self, layout: HoleLayout) -> HoleDraft:
        """Return the tokens of the hole, with their probabilities at temperature 1."""
        written = self.tokens[layout.start : layout.end]
        return HoleDraft(
            ids=list(self.ids[layout.start : layout.end]),
            confidences=[math.exp(min(token.log_p, 0.0)) for token in written],
            entropies=[entropy_of([other.log_p for other in token.likeliest]) for token in written],
            is_accepted=[True] * len(written),
        )

    def surprise(self, layout: HoleLayout) -> float:
        """Return the mean surprise (nats) at the first given tokens after the hole.

        Raises UnusableAnswer where the server did not report their probabilities.
        """
        surprises = []
        for position, expected in scored_ids(layout).items():
            found = [one for one in self.tokens[position].likeliest if one.id == expected]
            if not found:
                raise UnusableAnswer("it lacks the probabilities that it was asked for")
            surprises.append(-found[0].log_p)
        return math.fsum(surprises) / len(surprises)


def scored_ids(layout: HoleLayout) -> dict[int, int]:
    """Return the ids that judge a length by their position; none where no suffix is shown."""
    shown = layout.ids[layout.end : layout.end + NUM_SCORED]
    return {layout.end + i: token for i, token in enumerate(shown) if token is not None}


def ask_canvas(
    link: ServerLink,
    dialect: VllmCanvas,
    request: CanvasRequest,
    checkpoint: Callable[[], None],
) -> CanvasAnswer:
    """Return the canvas. Raises RemoteError, and what ``checkpoint`` raises: that cancels it."""
    tokens: list[NewToken] = []
    reading, model = None, None
    with closing(link.stream(dialect, dialect.body(request), checkpoint)) as chunks:
        for chunk in chunks:
            tokens += chunk.tokens
            reading, model = chunk.reading or reading, chunk.model or model
    num_asked = len(request.ids)
    if len(tokens) != num_asked:
        raise unusable(link.remote, f"{len(tokens)} tokens for a canvas of {num_asked}")
    pinned = set(request.pinned)
    return CanvasAnswer(
        tokens=tuple(tokens),
        ids=tuple(request.ids[i] if i in pinned else token.id for i, token in enumerate(tokens)),
        reading=reading,
        model=model,
    )
