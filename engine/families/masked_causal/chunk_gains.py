"""Score code of other files by how much it helps to predict the known code near a hole.

For each chunk alone: the mean log-probability of that code with the chunk before it, less that
without it. CODEFILTER (arXiv 2508.05970) computes this label against the true text of a hole, to
train with; the code next to the hole is known already, so here it is computed while the user works.
"""

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from msgspec.structs import replace

from intarsia.engine.families.masked_causal.backbone.chunks import SHORT_CHUNK
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.project_layout import plain_order
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import ProjectContext, ScoreChunks

_NUM_LEAD_IN = 50  # tokens before the scored ones: the first tokens of a text are hard to predict
_NUM_SCORED_BEFORE = 150
_NUM_SCORED_AFTER = 100
_MAX_CHARS_PER_TOKEN = 16  # more text than the tokens have; it is only encoded
_MAX_CHUNK_CHARS = 16_000  # of a chunk: more has no place in a context either
_MAX_CHUNK_TOKENS = 8_192  # rare characters are several tokens each
_MAX_HELD = 256  # scores


@dataclass(frozen=True, kw_only=True, slots=True)
class _NearCode:
    """The tokens next to a hole, the hole left out. Those from ``start`` on are scored."""

    ids: tuple[int, ...]
    start: int


_Key: TypeAlias = tuple[ProjectContext, _NearCode]


class ChunkScorer:
    """Scores chunks on a backbone; its rows are held apart from all contexts."""

    def __init__(self, backbone: CausalBackbone, text: FimTokenizer) -> None:
        self._backbone = backbone
        self._text = text
        self._scores: OrderedDict[_Key, float] = OrderedDict()  # used least recently first

    def gains(self, request: ScoreChunks, control: FillControl) -> tuple[float, ...]:
        """Return the gain of each chunk in nats per token, 0 where there is nothing to score.

        The same chunk at the same place is scored once. Raises Cancelled between two passes of
        ``SHORT_CHUNK`` tokens.
        """
        near = self._near_code(request)
        if near.start >= len(near.ids):
            return (0.0,) * len(request.project.chunks)
        without = self._score(replace(request.project, chunks=()), near, control)
        gains = (
            self._score(replace(request.project, chunks=(chunk,)), near, control) - without
            if 0 < len(chunk.text) <= _MAX_CHUNK_CHARS
            else 0.0
            for chunk in request.project.chunks
        )
        return tuple(gain if math.isfinite(gain) else 0.0 for gain in gains)

    def _near_code(self, request: ScoreChunks) -> _NearCode:
        num_before = _NUM_LEAD_IN + _NUM_SCORED_BEFORE
        prefix = self._text.encode(request.prefix[-num_before * _MAX_CHARS_PER_TOKEN :])
        suffix = self._text.encode(request.suffix[: _NUM_SCORED_AFTER * _MAX_CHARS_PER_TOKEN])
        before, after = prefix[-num_before:], suffix[:_NUM_SCORED_AFTER]
        return _NearCode(ids=(*before, *after), start=max(0, len(before) - _NUM_SCORED_BEFORE))

    def _score(self, project: ProjectContext, near: _NearCode, control: FillControl) -> float:
        """Return the mean log-probability of the scored tokens after a project context.

        NaN if that has too many tokens.
        """
        key = (project, near)
        if key not in self._scores:
            before = plain_order(self._text, project)
            is_long = len(before) > _MAX_CHUNK_TOKENS
            self._scores[key] = math.nan if is_long else self._compute(before, near, control)
            while len(self._scores) > _MAX_HELD:
                self._scores.popitem(last=False)
        self._scores.move_to_end(key)
        return self._scores[key]

    @torch.inference_mode()
    def _compute(self, before: Sequence[int], near: _NearCode, control: FillControl) -> float:
        ids = [*before, *near.ids]
        first_scored = len(before) + near.start
        cache, total = self._backbone.new_cache(), 0.0
        cache.reserve(len(ids))
        for start in range(0, len(ids) - 1, SHORT_CHUNK):
            control.checkpoint()
            part = ids[start : start + SHORT_CHUNK]
            rows = frozen_rows(part, start=start, device=self._backbone.device)
            hidden = self._backbone.forward(rows, cache)
            cache.commit(part)
            # The row of a token predicts the next one.
            first = max(start, first_scored - 1)
            targets = ids[first + 1 : start + len(part) + 1]
            if targets:
                total += self._log_probability(hidden[first - start :][: len(targets)], targets)
        return total / (len(ids) - first_scored)

    def _log_probability(self, hidden: torch.Tensor, targets: Sequence[int]) -> float:
        logits = self._backbone.logits(hidden).float()
        scored = torch.tensor(targets, device=logits.device)
        chosen = logits.gather(-1, scored[:, None])[:, 0]
        return float((chosen - logits.logsumexp(dim=-1)).sum())
