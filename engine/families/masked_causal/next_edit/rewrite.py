"""Has the model write lines again after a prompt: greedily, with the old lines as its draft.

Most of the answer repeats the old lines, so a pass verifies many of its tokens at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.chunks import SHORT_CHUNK
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.next_edit.drop import log_probabilities
from intarsia.engine.fill_control import FillControl

_MAX_PROPOSED = 24  # tokens a pass, while the draft is repeated
_AFTER_CHANGE = 6  # tokens proposed directly after one that is not the draft's
_MAX_MORE = 96  # tokens more than the draft has


@dataclass(frozen=True, kw_only=True, slots=True)
class Rewritten:
    """The ids that were written, without the end mark, and their log-probability with it."""

    ids: Sequence[int]
    log_p: float


class Rewriter:
    """Writes after a prompt with one backbone."""

    def __init__(self, backbone: CausalBackbone, end_ids: frozenset[int]) -> None:
        self._backbone = backbone
        self._end_ids = end_ids

    @torch.inference_mode()
    def write(
        self, cache: KvCache, prompt: Sequence[int], draft: Sequence[int], control: FillControl
    ) -> Rewritten:
        """Return what follows the prompt after a cache, which is written to.

        Raises Cancelled between two passes.
        """
        hidden = self.read(cache, prompt, control)
        ids: list[int] = []
        log_p, at = 0.0, 0
        proposal = list(draft[:_MAX_PROPOSED])
        first = self._choose(hidden)
        while True:
            token, chosen_log_p = first
            log_p += chosen_log_p
            if token in self._end_ids or len(ids) >= len(draft) + _MAX_MORE:
                return Rewritten(ids=ids, log_p=log_p)
            at, is_copied = _follow(draft, at, token)
            ids.append(token)
            size = _MAX_PROPOSED if is_copied else _AFTER_CHANGE
            proposal = list(draft[at : at + size])
            control.checkpoint()
            accepted, first = self._verify(cache, token, proposal)
            for copied, copied_log_p in accepted:
                log_p += copied_log_p
                ids.append(copied)
            at += len(accepted)

    @torch.inference_mode()
    def read(self, cache: KvCache, prompt: Sequence[int], control: FillControl) -> Tensor:
        """Write a prompt into a cache; return the hidden state (1, hidden) of its last token.

        Raises Cancelled between two passes.
        """
        hidden = torch.empty(0)
        for start in range(0, len(prompt), SHORT_CHUNK):
            control.checkpoint()
            part = list(prompt[start : start + SHORT_CHUNK])
            hidden = self._forward(cache, part)
            cache.commit(part)
        return hidden[-1:]

    @torch.inference_mode()
    def log_probability(
        self, cache: KvCache, prompt: Sequence[int], ids: Sequence[int], control: FillControl
    ) -> float:
        """Return how likely ids and then an end mark follow the prompt after a cache, in nats.

        The cache is written to. Raises Cancelled between two passes.
        """
        hidden = [self.read(cache, prompt, control)]
        for start in range(0, len(ids), SHORT_CHUNK):
            control.checkpoint()
            part = list(ids[start : start + SHORT_CHUNK])
            hidden.append(self._forward(cache, part))
            cache.commit(part)
        rows = torch.cat(hidden)
        likely = log_probabilities(self._backbone, rows[:-1], ids, control).sum()
        logits = self._backbone.logits(rows[-1:]).float()[0]
        end = logits[list(self._end_ids)].amax() - logits.logsumexp(-1)
        return float(likely + end)

    def _forward(self, cache: KvCache, ids: Sequence[int]) -> Tensor:
        cache.reserve(len(ids))
        rows = frozen_rows(ids, start=len(cache), device=self._backbone.device)
        return self._backbone.forward(rows, cache)

    def _choose(self, hidden: Tensor) -> tuple[int, float]:
        """Return the likeliest token after a row (1, hidden), and its log-probability."""
        logits = self._backbone.logits(hidden).float()[0]
        token = int(logits.argmax())
        return token, float(logits[token] - logits.logsumexp(-1))

    def _verify(
        self, cache: KvCache, token: int, proposal: Sequence[int]
    ) -> tuple[list[tuple[int, float]], tuple[int, float]]:
        """Return the proposed tokens that the model would write itself, and its next token."""
        ids = [token, *proposal]
        logits = self._backbone.logits(self._forward(cache, ids)).float()
        likeliest = logits.argmax(-1).tolist()
        log_p = (logits.amax(-1) - logits.logsumexp(-1)).tolist()
        num = 0
        while num < len(proposal) and likeliest[num] == proposal[num]:
            num += 1
        cache.commit(ids[: num + 1])
        accepted = list(zip(likeliest[:num], log_p[:num], strict=True))
        return accepted, (likeliest[num], log_p[num])


def _follow(draft: Sequence[int], at: int, token: int) -> tuple[int, bool]:
    """Return where the draft goes on after a token, and whether the token is the draft's own.

    A token that is not in the draft soon takes the place of one in it.
    """
    for index in range(at, min(len(draft), at + _AFTER_CHANGE)):
        if draft[index] == token:
            return index + 1, index == at
    return min(at + 1, len(draft)), False
