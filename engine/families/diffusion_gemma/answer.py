"""Turn the tokens of a hole into its text: apply end tokens, stop texts and limits. No torch."""

from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.engine.families.stop_rules import cut_at, find_text_end
from intarsia.engine.ipc.messages import CanvasToken, Fill, FinishReason


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleDraft:
    """The hole's tokens so far, from one or several canvases."""

    ids: list[int] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)
    is_accepted: list[bool] = field(default_factory=list)

    def then(self, later: "HoleDraft") -> "HoleDraft":
        """Return these tokens followed by those of the next canvas."""
        return HoleDraft(
            ids=self.ids + later.ids,
            confidences=self.confidences + later.confidences,
            entropies=self.entropies + later.entropies,
            is_accepted=self.is_accepted + later.is_accepted,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The text of a hole; ``has_end`` if the model or a rule of the request ended it."""

    tokens: tuple[CanvasToken, ...]
    mean_entropy: float
    has_end: bool

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)


def answer_of(draft: HoleDraft, request: Fill, given: list[int], text: GemmaTokenizer) -> Answer:
    """Return the hole up to its end; the last token is cut where a stop text begins."""
    num_ids = text.num_before_end(draft.ids)
    pieces = text.pieces(draft.ids[: min(num_ids, request.max_tokens)], after=given)
    end = find_text_end("".join(pieces), request)
    kept = cut_at(end, pieces)
    tokens = tuple(map(CanvasToken, kept, draft.confidences, draft.is_accepted))
    return Answer(
        tokens=tokens,
        mean_entropy=fmean(draft.entropies[: max(len(kept), 1)] or [0.0]),
        has_end=end is not None or num_ids < len(draft.ids),
    )


def finish_reason_of(
    answer: Answer, loop_reason: Literal["done", "max_steps", "deadline"], request: Fill
) -> FinishReason:
    """Return why the hole ended.

    A canvas that shows a suffix ends where that begins; without one, only the model ends a text.
    """
    if loop_reason != "done":
        return loop_reason
    return "end_of_hole" if answer.has_end or request.suffix else "max_tokens"
