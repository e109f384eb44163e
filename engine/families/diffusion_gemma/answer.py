"""A hole's tokens → its text: end tokens, stop texts and limits are applied here.

Token ids with their confidences come in, the messages' tokens and text go out.
"""

from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from torch import Tensor

from intarsia.engine.diffusion.denoise import Denoised
from intarsia.engine.diffusion.draft import Draft
from intarsia.engine.families.diffusion_gemma.layout import LaidOut
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.engine.families.stop_rules import find_text_end
from intarsia.engine.ipc.messages import CanvasToken, Fill, FinishReason


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleTokens:
    """The hole's tokens of one or several canvases, as they stand."""

    ids: list[int] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)
    is_settled: list[bool] = field(default_factory=list)

    def then(self, draft: Draft | Denoised, is_settled: Tensor, place: LaidOut) -> "HoleTokens":
        """Return these tokens and those of the next canvas."""
        hole = slice(place.start, place.end)
        return HoleTokens(
            ids=self.ids + draft.ids[hole].tolist(),
            confidences=self.confidences + draft.confidences[hole].tolist(),
            entropies=self.entropies + draft.entropies[hole].tolist(),
            is_settled=self.is_settled + is_settled[hole].tolist(),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the hole says. ``has_end``: the model ended it, or a rule of the request did."""

    tokens: tuple[CanvasToken, ...]
    mean_entropy: float
    has_end: bool

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)


def answer_of(hole: HoleTokens, request: Fill, given: list[int], text: GemmaTokenizer) -> Answer:
    """Read the hole up to its end; the last token is cut where a stop text begins within it."""
    num_ids = text.num_before_end(hole.ids)
    pieces = text.pieces(hole.ids[: min(num_ids, request.max_tokens)], after=given)
    end = find_text_end(
        "".join(pieces),
        stop=request.stop,
        max_open=request.max_open,
        min_indent=request.min_indent,
    )
    kept = pieces if end is None else _cut(pieces, end)
    tokens = tuple(map(CanvasToken, kept, hole.confidences, hole.is_settled))
    return Answer(
        tokens=tokens,
        mean_entropy=fmean(hole.entropies[: max(len(kept), 1)]),
        has_end=end is not None or num_ids < len(hole.ids),
    )


def finish_reason_of(
    answer: Answer, loop_reason: Literal["settled", "max_steps", "deadline"], request: Fill
) -> FinishReason:
    """A settled canvas that shows a suffix has met it; without one only the model ends a text."""
    if loop_reason != "settled":
        return loop_reason
    return "end_of_hole" if answer.has_end or request.suffix else "max_tokens"


def _cut(pieces: list[str], end: int) -> list[str]:
    kept = []
    for piece in pieces:
        if end <= 0:
            break
        kept.append(piece[:end])
        end -= len(piece)
    return kept
