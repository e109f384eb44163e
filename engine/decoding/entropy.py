"""Settle a hole by the entropy bound alone: canvas after canvas through the denoising loop.

The masked family's second way. Each canvas begins with the last known token; the hole ends where
its settled tokens say so. Knows ids, no text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from intarsia.engine.decoding.tokens import FindEnd, OnRound, ScoredToken, Settled, cut
from intarsia.engine.diffusion.acceptance import AcceptAmongMasked, AcceptFromLeft
from intarsia.engine.diffusion.canvas import TokenCanvas, masked_canvas
from intarsia.engine.diffusion.denoise import denoise, ignore_step
from intarsia.engine.diffusion.draft import Draft
from intarsia.engine.diffusion.policies import masked_policy


@dataclass(frozen=True, kw_only=True, slots=True)
class EntropyPolicy:
    """``num_free``: open positions of a canvas.

    Settling from the left is what the bundled adapter carries: the surest first, anywhere in the
    canvas, cost 1 of 6 exact lines at any bound (HumanEval single-line, 18 problems).
    """

    num_free: int = 12
    entropy_bound: float = 0.5  # nats
    min_confidence: float = 0.4
    accept: type[AcceptAmongMasked] | type[AcceptFromLeft] = AcceptFromLeft
    temperature: float = 0.0

    def __post_init__(self) -> None:
        if self.num_free < 1:
            raise ValueError(f"a canvas needs an open position, got {self.num_free}")


class CanvasWriter(Protocol):
    """A causal backbone that predicts canvases behind its context and the hole's earlier tokens."""

    def predict(self, canvas: TokenCanvas, self_conditioning: Tensor | None) -> Tensor:
        """Return logits (length, vocab) of each canvas position."""
        ...

    def open_canvas(self, written: Sequence[int]) -> None:
        """Say which tokens stand between the context and the next canvas."""
        ...


def decode_by_entropy(
    writer: CanvasWriter,
    mask_id: int,
    named: Sequence[ScoredToken],
    policy: EntropyPolicy,
    *,
    generator: torch.Generator,
    find_end: FindEnd,
    max_tokens: int,
    max_forwards: int | None,
    is_cancelled: Callable[[], bool],
    deadline: float | None,  # time.monotonic()
    on_round: OnRound | None,
) -> Settled:
    """Write the hole behind a context whose next tokens are already named; the writer holds all of
    them but the last. Raises Cancelled."""
    num_held = len(named) - 1
    text = Settled(
        ids=[t.id for t in named],
        confidences=[t.confidence for t in named],
        entropies=[t.entropy for t in named],
        num_committed=len(named),
    )
    while (end := find_end(text.ids)) is None and len(text.ids) < max_tokens:
        left = policy.num_free if max_forwards is None else max_forwards - text.num_forwards
        if left < 1:
            return cut(text, max_tokens, "max_steps")
        before = text.ids[:-1]
        writer.open_canvas(before[num_held:])
        num_free = min(policy.num_free, max_tokens - len(text.ids))
        block = denoise(
            writer.predict,
            masked_canvas(
                [text.ids[-1], *[None] * num_free], mask_id=mask_id, device=generator.device
            ),
            masked_policy(
                mask_id=mask_id,
                max_steps=min(left, policy.num_free),
                entropy_bound=policy.entropy_bound,
                min_confidence=policy.min_confidence,
                temperature=policy.temperature,
                accept=policy.accept,
                find_end=_within(find_end, before),
            ),
            generator=generator,
            is_cancelled=is_cancelled,
            deadline=deadline,
            on_step=_show(on_round, text),
        )
        num_sure = len(text.ids)
        text = _then(
            text,
            block.ids.tolist(),
            block.confidences.tolist(),
            block.entropies.tolist(),
            block.num_steps,
        )
        if block.finish_reason == "deadline" or (
            block.finish_reason == "max_steps" and text.num_forwards == max_forwards
        ):
            text.num_committed = num_sure  # which of the last canvas had settled is not told
            return cut(text, find_end(text.ids) or max_tokens, block.finish_reason)
    return cut(text, end or max_tokens, "max_tokens" if end is None else "end")


def _within(find_end: FindEnd, before: list[int]) -> Callable[[Tensor], int | None]:
    """Ask for the hole's end as a position within a canvas."""

    def find(ids: Tensor) -> int | None:
        end = find_end([*before, *ids.tolist()])
        return None if end is None else max(0, end - 1 - len(before))

    return find


def _show(on_round: OnRound | None, text: Settled) -> Callable[[int, TokenCanvas, Draft], None]:
    if on_round is None:
        return ignore_step

    def show(step: int, canvas: TokenCanvas, draft: Draft) -> None:
        whole = _then(
            text, draft.ids.tolist(), draft.confidences.tolist(), draft.entropies.tolist(), step
        )
        is_known = (canvas.is_fixed | canvas.is_settled).tolist()
        whole.num_committed = len(text.ids) - 1 + [*is_known, False].index(False)
        on_round(whole.num_forwards, whole)

    return show


def _then(
    text: Settled,
    ids: list[int],
    confidences: list[float],
    entropies: list[float],
    num_forwards: int,
) -> Settled:
    """Put a canvas behind the text; its first token is the text's last."""
    whole = [*text.ids, *ids[1:]]
    return Settled(
        ids=whole,
        confidences=[*text.confidences, *confidences[1:]],
        entropies=[*text.entropies, *entropies[1:]],
        num_committed=len(whole),
        num_forwards=text.num_forwards + num_forwards,
    )
