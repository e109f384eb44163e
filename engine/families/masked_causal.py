"""Masked block diffusion on a causal backbone: known tokens frozen, canvas tokens adapted.

Token ids come in, logits go out. One context at a time is open; others are held for later.
Knows neither text nor how a proposal is settled.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.denoise import never_cancelled
from intarsia.engine.diffusion.verify import NamedToken, Verification
from intarsia.engine.families.branch_rows import branch_rows
from intarsia.engine.families.causal_backbone import CausalBackbone, Rows
from intarsia.engine.families.common_prefix import common_prefix_length
from intarsia.engine.families.context_cache import ContextCache
from intarsia.engine.families.kv_cache import KvCache
from intarsia.engine.families.protocol import Prefilled
from intarsia.engine.filler import Cancelled

# Context tokens a pass; a cancel is honoured between two. On a CPU 256 cost 5 % more time than 512,
# and 128 cost 22 % more (1,900 tokens).
_CHUNK = 512
_CPU_CHUNK = 256
_ROOM = 128  # tokens: most holes fit behind their context without moving it
SHORT_CHUNK = 64
"""Where others wait, or may come to wait, for the end of a chunk."""


class MaskedCausal:
    """A backbone with the contexts it has read."""

    def __init__(self, backbone: CausalBackbone, *, cache_tokens: int) -> None:
        self.vocab_size = backbone.shape.vocab_size
        self.device = backbone.device
        self._chunk = _CPU_CHUNK if backbone.device.type == "cpu" else _CHUNK
        self._backbone = backbone
        self._contexts = ContextCache(backbone.new_cache, max_tokens=cache_tokens)
        self._open: KvCache = backbone.new_cache()
        self._context_length = 0
        self._last_tokens: list[int] = []
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
    ) -> Prefilled:
        """Open a context; read what is not held yet. Raises Cancelled between two chunks of so many
        tokens (None: what is fastest). Once laid aside it goes on in short ones: others work."""
        self._open.crop(self._context_length)  # what the last hole held is of no more use
        self._open, num_held = self._contexts.open(context)
        self._context_length = len(context)
        num_reused = num_held
        if num_held == len(context) and self._open.end_of_context(num_held) is None:
            num_reused = num_held - 1  # its last hidden state was not kept: read one token again
            self._open.crop(num_reused)
        self._open.reserve(len(context) - num_reused + _ROOM)
        start = num_reused
        size, num_before = chunk_tokens or self._chunk, self._num_laid_aside
        while start < len(context):
            if is_cancelled():
                raise Cancelled
            if self._num_laid_aside > num_before:
                size = min(size, SHORT_CHUNK)
            chunk = list(context[start : start + size])
            hidden = self._backbone.forward(self._frozen_rows(chunk), self._open)
            self._open.commit(chunk)
            start += len(chunk)
            if start == len(context):
                self._open.keep_end(hidden[-1].clone())
        self.open_canvas([])
        return Prefilled(num_reused=num_reused, num_computed=len(context) - num_reused)

    @torch.inference_mode()
    def next_logits(self) -> Tensor:
        """Return logits (vocab,) of the token after the open context."""
        hidden = self._open.end_of_context(self._context_length)
        if hidden is None:
            raise RuntimeError("no context is open: call prefill first")
        return self._backbone.logits(hidden[None])[0]

    @torch.inference_mode()
    def extend(self, token: int) -> None:
        """Take one more token into the open context, on the frozen path."""
        hidden = self._backbone.forward(self._frozen_rows([token]), self._open)
        self._open.commit([token])
        self._open.keep_end(hidden[-1].clone())
        self._context_length += 1

    @contextmanager
    def laid_aside(self) -> Iterator[None]:
        """Between two passes: have other contexts opened, then go on with this one as it is."""
        self._num_laid_aside += 1
        mine = self._open, self._context_length, self._written, self._judged
        with self._contexts.laid_aside(self._open):
            self._open, self._context_length = self._backbone.new_cache(), 0
            yield
            self._open.crop(self._context_length)  # else the hole would be taken for context
        self._open, self._context_length, self._written, self._judged = mine

    def reopen(self, length: int) -> None:
        """Hold no more than the first tokens of the open context: others were of one answer. Where
        these were copied from another context, their last is read again."""
        self._open.crop(length)
        self._context_length = length
        self.open_canvas([])
        if self._open.end_of_context(length) is None:
            self.prefill(list(self._open.ids))

    @torch.inference_mode()
    def log_chance(
        self, tokens: Sequence[int], start: int, is_cancelled: Callable[[], bool]
    ) -> float:
        """Return the log probability of tokens[start:] behind the open context and tokens[:start].

        None of them is held afterwards. Raises Cancelled between two chunks.
        """
        end = self._open.end_of_context(self._context_length)
        if end is None:
            raise RuntimeError("no context is open: call prefill first")
        hidden = [end[None]]
        for first in range(0, len(tokens) - 1, self._chunk):
            if is_cancelled():
                raise Cancelled
            chunk = list(tokens[first : first + self._chunk])
            hidden.append(self._backbone.forward(self._frozen_rows(chunk), self._open))
            self._open.commit(chunk)
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
        self._last_tokens = list(tokens)
        hidden = self._backbone.forward(rows, self._open)
        causal, proposed = torch.split(self._backbone.logits(hidden), [len(tokens), sum(masks)])
        proposals = torch.split(proposed, list(masks))
        rows_of = torch.split(hidden[len(tokens) :], list(masks))

        def name_serially(outcome: int, named: int) -> list[NamedToken]:
            return self._backbone.name_serially(rows_of[outcome], proposals[outcome], named)

        has_head = self._backbone.has_head
        return Verification(
            causal=causal,
            proposals=proposals,
            name_serially=name_serially if has_head else None,
        )

    def keep(self, num_tokens: int) -> None:
        """Hold the keys and values of the first tokens of the last pass."""
        self._open.commit(self._last_tokens[:num_tokens])

    # -- rewriting -------------------------------------------------------------------------------

    def branch(self, branches: Sequence[Sequence[int]]) -> list[Tensor]:
        """Return logits (tokens, vocab) after each token of each branch (rewrite.py)."""
        rows = branch_rows(branches, start=len(self._open), device=self._backbone.device)
        logits = self._backbone.logits(self._backbone.forward(rows, self._open))
        return list(torch.split(logits, [len(branch) for branch in branches]))

    def rewind(self) -> None:
        """Hold no token of the hole."""
        self._open.crop(self._context_length)

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

    def _frozen_rows(self, tokens: Sequence[int]) -> Rows:
        start, num = len(self._open), len(tokens)
        device = self._backbone.device
        return Rows(
            ids=torch.tensor(tokens, dtype=torch.long, device=device),
            positions=torch.arange(start, start + num, device=device),
            num_frozen=num,
            visible=torch.ones(num, start + num, dtype=torch.bool, device=device).tril(start),
        )


def outcome_rows(
    tokens: Sequence[int],
    masks: Sequence[int],
    *,
    start: int,
    mask_id: int,
    device: torch.device,
) -> Rows:
    """Return the rows of one verified pass behind ``start`` context tokens.

    Frozen rows for the tokens; then for each outcome j its masks, which see the context, the tokens
    up to and with j, and each other. (The adapter was trained with an adapted copy of token j in
    front of the masks; leaving that out costs nothing, measured, and saves a row an outcome.)
    """
    num = len(tokens)
    ids = [*tokens, *[mask_id] * sum(masks)]
    positions = list(range(start, start + num))
    visible = torch.zeros(len(ids), start + len(ids), dtype=torch.bool)
    visible[:, :start] = True
    visible[:num, start : start + num] = torch.ones(num, num, dtype=torch.bool).tril()
    first = num
    for j, count in enumerate(masks):
        positions += range(start + j + 1, start + j + 1 + count)
        visible[first : first + count, start : start + j + 1] = True
        visible[first : first + count, start + first : start + first + count] = True
        first += count
    return Rows(
        ids=torch.tensor(ids, dtype=torch.long, device=device),
        positions=torch.tensor(positions, dtype=torch.long, device=device),
        num_frozen=num,
        visible=visible.to(device),
    )


def canvas_rows(
    frozen: Sequence[int], canvas: Sequence[int], *, start: int, device: torch.device
) -> Rows:
    """Return the rows of one pass over a canvas: frozen ones, then canvas rows that see all."""
    num, total = len(frozen), len(frozen) + len(canvas)
    visible = torch.ones(total, start + total, dtype=torch.bool)
    visible[:num] = visible[:num].tril(start)
    return Rows(
        ids=torch.tensor([*frozen, *canvas], dtype=torch.long, device=device),
        positions=torch.arange(start, start + total, device=device),
        num_frozen=num,
        visible=visible.to(device),
    )
