"""Masked block diffusion on a causal backbone: known tokens frozen, canvas tokens adapted.

Token ids come in, logits go out. One context at a time is open; others are held for later.
Knows neither text nor how a proposal is settled.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from intarsia.engine.decoding.speculative import Verification
from intarsia.engine.decoding.tokens import ScoredToken
from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.denoise import never_cancelled
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rows import (
    branch_rows,
    canvas_rows,
    frozen_rows,
    outcome_rows,
)
from intarsia.engine.families.masked_causal.context_cache import ContextCache
from intarsia.engine.families.protocol import Prefilled, common_prefix_length

_ROOM = 128  # tokens: most holes fit behind their context without moving it
SHORT_CHUNK = 64
"""Where others wait, or may come to wait, for the end of a chunk."""


class MaskedCausal:
    """A backbone with the contexts it has read."""

    def __init__(self, backbone: CausalBackbone, *, cache_tokens: int) -> None:
        self.vocab_size = backbone.shape.vocab_size
        self.device = backbone.device
        self._chunk = backbone.chunk_tokens
        self._backbone = backbone
        self._contexts = ContextCache(backbone.new_cache, max_tokens=cache_tokens)
        self._open: KvCache = backbone.new_cache()
        self._context_length = 0
        self._last_tokens: list[int] = []
        self._last_hidden = torch.empty(0)
        self._written: list[int] = []  # hole tokens before the open canvas
        self._judged: list[Tensor] = []  # logits (vocab,) after each hole token in the cache
        self._num_laid_aside = 0

    @property
    def has_adapter(self) -> bool:
        """Whether canvas rows are worth running: without an adapter they propose nothing."""
        return self._backbone.has_adapter

    def cached_tokens(self) -> int:
        """Return how many context tokens are held."""
        return self._contexts.num_tokens

    @torch.inference_mode()
    def prefill(
        self,
        context: Sequence[int],
        is_cancelled: Callable[[], bool] = never_cancelled,
        *,
        chunk_tokens: int | None = None,
        behind: Sequence[int] = (),
    ) -> Prefilled:
        """Open a context; read what is not held yet. Raises Cancelled between two chunks of so many
        tokens (None: what is fastest); once laid aside it goes on in short ones, as others work. Of
        the tokens ``behind`` it, what is held still is held on.
        """
        whole = [*context, *behind]
        # Of the last hole only what the user has taken over is of any more use.
        self._open.crop(max(self._context_length, common_prefix_length(self._open.ids, whole)))
        self._open, num_held = self._contexts.open(whole)
        self._context_length = len(context)
        num_reused = min(num_held, len(context))
        if num_reused == len(context) and not self._is_end_known(num_reused):
            num_reused -= 1  # its last hidden state was not kept: read one token again
            self._open.crop(num_reused)
        self._open.reserve(len(context) - num_reused + _ROOM)
        start = num_reused
        size, num_before = chunk_tokens or self._chunk, self._num_laid_aside
        while start < len(context):
            if is_cancelled():
                raise Cancelled
            if self._num_laid_aside > num_before:
                size = min(size, SHORT_CHUNK)
            hidden = self._read(context[start : start + size])
            start += len(hidden)
            if start == len(context):
                self._open.keep_last_hidden(hidden[-1].clone())
        self.open_canvas([])
        return Prefilled(num_reused=num_reused, num_computed=len(context) - num_reused)

    @torch.inference_mode()
    def next_logits(self) -> Tensor:
        """Return logits (vocab,) of the token after the open context."""
        hidden = self._open.last_hidden(self._context_length)
        if hidden is None:
            raise RuntimeError("no context is open: call prefill first")
        return self._backbone.logits(hidden[None])[0]

    @torch.inference_mode()
    def extend(self, token: int) -> int:
        """Take one more token into the open context; return the passes that it took: none where it
        is held."""
        length = self._context_length
        if self._open.ids[length : length + 1] == [token] and self._is_end_known(length + 1):
            self._context_length += 1
            return 0
        self._open.crop(length)
        self._open.keep_last_hidden(self._read([token])[-1].clone())
        self._context_length += 1
        return 1

    def hold(self, tokens: Sequence[int]) -> int:
        """Hold no more behind the open context than the first of these; return how many are."""
        num_held = common_prefix_length(self._open.ids[self._context_length :], tokens)
        self._open.crop(self._context_length + num_held)
        return num_held

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Between two passes: have other contexts opened, then go on with this one as it is."""
        self._num_laid_aside += 1
        mine = self._open, self._context_length, self._written, self._judged
        try:
            with self._contexts.suspended(self._open):
                self._open, self._context_length = self._backbone.new_cache(), 0
                yield
                self._open.crop(self._context_length)  # else the hole would be taken for context
        finally:
            self._open, self._context_length, self._written, self._judged = mine

    def reopen(self, length: int) -> None:
        """Hold no more than the first tokens of the open context: others were of one answer. Where
        these were copied from another context, their last is read again."""
        self._open.crop(length)
        self._context_length = length
        self.open_canvas([])
        if self._open.last_hidden(length) is None:
            self.prefill(list(self._open.ids))

    @torch.inference_mode()
    def log_chance(
        self, tokens: Sequence[int], start: int, is_cancelled: Callable[[], bool]
    ) -> float:
        """Return the log probability of tokens[start:] behind the open context and tokens[:start].

        None of them is held afterwards. Raises Cancelled between two chunks.
        """
        end = self._open.last_hidden(self._context_length)
        if end is None:
            raise RuntimeError("no context is open: call prefill first")
        hidden = [end[None]]
        for first in range(0, len(tokens) - 1, self._chunk):
            if is_cancelled():
                raise Cancelled
            hidden.append(self._read(tokens[first : first + self._chunk]))
        self.rewind()
        logits = self._backbone.logits(torch.cat(hidden)[start : len(tokens)])
        named = torch.tensor(tokens[start:], device=logits.device)
        chances = torch.log_softmax(logits.float(), dim=-1).gather(-1, named[:, None])
        return float(chances.sum())

    # -- verified --------------------------------------------------------------------------------

    def verify(self, tokens: Sequence[int], masks: Sequence[int]) -> Verification:
        """Run the tokens on the frozen path, with so many masks behind each outcome (verify.py)."""
        rows = outcome_rows(
            tokens,
            masks,
            start=len(self._open),
            mask_id=self._backbone.mask_id,
            device=self._backbone.device,
        )
        hidden = self._backbone.forward(rows, self._open)
        self._last_tokens, self._last_hidden = list(tokens), hidden[: len(tokens)].clone()
        causal, proposed = torch.split(self._backbone.logits(hidden), [len(tokens), sum(masks)])
        proposals = torch.split(proposed, list(masks))
        rows_of = torch.split(hidden[len(tokens) :], list(masks))

        def sample_serially(outcome: int, named: int) -> list[ScoredToken]:
            return self._backbone.sample_serially(rows_of[outcome], proposals[outcome], named)

        has_head = self._backbone.has_head
        return Verification(
            causal=causal,
            proposals=proposals,
            sample_serially=sample_serially if has_head else None,
        )

    def keep(self, num_tokens: int) -> None:
        """Hold the keys and values of the first tokens of the last pass. A context may end behind
        each of them soon: behind what the user has typed along."""
        for token, hidden in zip(self._last_tokens[:num_tokens], self._last_hidden, strict=False):
            self._open.commit([token])
            self._open.keep_last_hidden(hidden)

    # -- rewriting -------------------------------------------------------------------------------

    def branch(self, branches: Sequence[Sequence[int]]) -> list[Tensor]:
        """Return logits (tokens, vocab) after each token of each branch (rewrite.py)."""
        rows = branch_rows(branches, start=len(self._open), device=self._backbone.device)
        logits = self._backbone.logits(self._backbone.forward(rows, self._open))
        return list(torch.split(logits, [len(branch) for branch in branches]))

    def rewind(self) -> None:
        """Hold no token of the hole."""
        self.hold([])

    # -- entropy ---------------------------------------------------------------------------------

    def open_canvas(self, written: Sequence[int]) -> None:
        """Say which hole tokens stand before the canvas that ``predict`` gets next."""
        self._written = list(written)
        if not written:
            self._judged = []

    def predict(self, canvas: TokenCanvas, self_conditioning: Tensor | None) -> Tensor:
        """Return logits (length, vocab) of each canvas position; its first token must be known.

        Leading known tokens take the frozen path, once: they are judged by the backbone itself, and
        so is the first open position. Behind it the canvas rows speak. No self-conditioning.
        """
        is_known = (canvas.is_fixed | canvas.is_settled).tolist()
        ids = canvas.ids.tolist()
        num_leading = next((i for i, known in enumerate(is_known) if not known), len(ids))
        leading = [*self._written, *ids[:num_leading]]
        num_held = min(
            common_prefix_length(self._open.ids[self._context_length :], leading),
            len(self._judged),
        )
        self._open.crop(self._context_length + num_held)
        del self._judged[num_held:]
        frozen = leading[num_held:]
        rows = canvas_rows(
            frozen, ids[num_leading:], start=len(self._open), device=self._backbone.device
        )
        logits = self._backbone.logits(self._backbone.forward(rows, self._open))
        logits[:, self._backbone.mask_id] = -torch.inf
        self._open.commit(frozen)
        self._judged += logits[: len(frozen)].unbind()
        judged = self._judged[len(self._written) :]
        # The row at position p names the token at p + 1; nothing names the first, which is known.
        named = [torch.zeros_like(judged[0]), *judged, *logits[len(frozen) : -1].unbind()]
        return torch.stack(named[: len(ids)])

    def _is_end_known(self, length: int) -> bool:
        return self._open.last_hidden(length) is not None

    def _read(self, tokens: Sequence[int]) -> Tensor:
        """Run tokens on the frozen path and hold them; return hidden states (tokens, hidden)."""
        rows = frozen_rows(tokens, start=len(self._open), device=self._backbone.device)
        hidden = self._backbone.forward(rows, self._open)
        self._open.commit(list(tokens))
        return hidden
