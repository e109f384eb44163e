"""Judges answers by the encoder, which is a causal language model in the same weights.

It reads an answer as the canvas has it, from the text before it to the first suffix tokens. The
probability of each token says more than that of the last denoising step, which sees all others.
Several answers are compared in a context without the suffix: with it in view, any is followed by
it. How well that chooses was not measured.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from intarsia.engine.errors import DeadlinePassed
from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone, Reading
from intarsia.engine.families.diffusion_gemma.read_request import HoleTask
from intarsia.engine.families.diffusion_gemma.writer import HoleWriter, WrittenHole
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Candidate, CanvasToken, Fill

NUM_SUFFIX = 24
"""Suffix tokens that are scored, as in the masked-causal family."""

_SURE = math.log(0.6)
"""An answer that is at least this likely, its end included, is returned alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """An answer with the encoder's probabilities, in nats. ``score``: with the suffix tokens."""

    answer: Candidate
    log_p: float
    score: float


class Judge:
    """Judges the answers to one hole, after a context; each takes one pass."""

    def __init__(
        self, backbone: DiffusionGemmaBackbone, task: HoleTask, context: Sequence[int]
    ) -> None:
        self.num_judged = 0
        self._backbone = backbone
        self._before = [*context, *task.given_in_canvas]
        self._suffix = task.suffix[:NUM_SUFFIX]
        self._read: Reading | None = None  # the last answer

    def judge(self, hole: WrittenHole, control: FillControl) -> Judged:
        """Return the answer judged. Raises what the control's checkpoint raises."""
        answer, ids = hole.answer, hole.draft.ids
        num = len(answer.tokens)
        # Without a suffix, what the model wrote next ends the text.
        after = self._suffix or (ids[num : num + 1] if answer.has_end else [])
        scored, first = [*ids[:num], *after], len(self._before)
        read = self._backbone.read([*self._before, *scored], first - 1, control, self._read)
        self._read, self.num_judged = read, self.num_judged + 1
        rows = read.rows_before(first, first + len(scored))
        log_p = self._backbone.log_probabilities(rows, scored).tolist()
        tokens = [
            CanvasToken(token.text, math.exp(own), True)
            for token, own in zip(answer.tokens, log_p, strict=False)
        ]
        return Judged(
            answer=msgspec.structs.replace(
                hole.candidate,
                tokens=tuple(tokens),
                end_confidence=math.exp(log_p[num]) if after else None,
            ),
            log_p=math.fsum(log_p[: num + 1]),
            score=math.fsum(log_p),
        )


def ranked_answers(
    writer: HoleWriter, judge: Judge, request: Fill, control: FillControl
) -> list[Candidate]:
    """Return up to ``num_candidates`` answers, best first. Raises Cancelled between two passes.

    The first one is returned alone if it is sure or rewrites a draft, or if the deadline comes
    before all are judged.
    """
    first = writer.first(control)
    control = replace(control, checkpoint=control.checkpoint_in_time)
    try:
        judged = [judge.judge(first, control)]
    except DeadlinePassed:
        return [first.candidate]
    if request.num_candidates == 1 or request.draft or judged[0].log_p >= _SURE:
        return [judged[0].answer]
    try:
        for hole in writer.others(control):
            texts = [other.answer.text.rstrip() for other in judged]
            if hole.answer.text.rstrip() not in texts:
                judged.append(judge.judge(hole, control))
            if len(judged) == request.num_candidates:
                break
    except DeadlinePassed:
        return [msgspec.structs.replace(judged[0].answer, finish_reason="deadline")]
    judged.sort(key=lambda one: -one.score)  # stable: the first one before its equals
    return [one.answer for one in judged]
