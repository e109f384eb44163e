"""A causal backbone with one open context, and the keys and values of earlier ones.

The hole's tokens follow the open context in the same KV cache. Forward passes over these are in
``passes.py``. Knows ids, no text.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.interface import SHORT_CHUNK, CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.context_cache import ContextCache
from intarsia.engine.families.protocol import Prefilled, common_prefix_length
from intarsia.engine.families.reading_speed import ReadingSpeed, Stopwatch
from intarsia.engine.fill_control import NO_CONTROL, FillControl

_HOLE_ROOM = 128  # tokens: most holes fit after their context without moving it


class OpenContext:
    """The open context, of ``length`` tokens, and its ``cache``, which also holds hole tokens."""

    def __init__(self, backbone: CausalBackbone, *, cache_tokens: int) -> None:
        self.backbone = backbone
        self.cache: KvCache = backbone.new_cache()
        self.length = 0
        self._earlier = ContextCache(backbone.new_cache, max_tokens=cache_tokens)
        self._num_suspensions = 0
        self.reading_speed = ReadingSpeed()

    def cached_tokens(self) -> int:
        """Return the number of context tokens that are held."""
        return self._earlier.num_tokens

    def num_missing(self, context: Sequence[int]) -> int:
        """Return how many tokens of a context a prefill would compute. Changes nothing."""
        return len(context) - self._earlier.num_held(context)

    def find_held(self, ids: Sequence[int]) -> tuple[KvCache | None, int]:
        """Return a context with the longest beginning of these ids, and the length of that."""
        return self._earlier.find_held(ids)

    @torch.inference_mode()
    def prefill(
        self,
        context: Sequence[int],
        control: FillControl = NO_CONTROL,
        *,
        chunk_tokens: int | None = None,
        hole_ids: Sequence[int] = (),
    ) -> Prefilled:
        """Open a context; compute the tokens that are not held, in chunks of ``chunk_tokens``.

        None takes the fastest size. After a suspension the chunks are short, as other fills are
        running. ``hole_ids`` probably follow the context: those that are held stay held. Raises
        Cancelled between two chunks.
        """
        whole = [*context, *hole_ids]
        # Of the last hole only the tokens that are now in the context, or follow it, are useful.
        self.cache.crop(max(self.length, common_prefix_length(self.cache.ids, whole)))
        self.cache, num_held = self._earlier.open(whole)
        self.length = len(context)
        num_reused = min(num_held, len(context))
        if num_reused == len(context) and not self._is_end_known(num_reused):
            num_reused -= 1  # its last hidden state was not kept: read one token again
            self.cache.crop(num_reused)
        self.cache.reserve(len(context) - num_reused + _HOLE_ROOM)
        self._read_context(context[num_reused:], control, chunk_tokens)
        return Prefilled(num_reused=num_reused, num_computed=len(context) - num_reused)

    def _read_context(
        self, tokens: Sequence[int], control: FillControl, chunk_tokens: int | None
    ) -> None:
        """Read the last tokens of the context."""
        size, num_before = chunk_tokens or self.backbone.chunk_tokens, self._num_suspensions
        start, watch = 0, Stopwatch(self.backbone.device)
        while start < len(tokens):
            control.checkpoint()
            if self._num_suspensions > num_before:
                size = min(size, SHORT_CHUNK)
            part = tokens[start : start + size]
            start += len(part)
            is_last = start == len(tokens)
            with watch.lap():
                hidden = self.read(part, num_hidden=int(is_last))
            if is_last:
                self.cache.keep_last_hidden(hidden[-1].clone())
        self.reading_speed.add(len(tokens), watch.seconds)

    @torch.inference_mode()
    def read(self, tokens: Sequence[int], *, num_hidden: int | None = None) -> Tensor:
        """Run tokens on the frozen path and hold them.

        Return the hidden states (tokens, hidden) of the last ``num_hidden``; None: of all.
        """
        rows = frozen_rows(
            tokens,
            start=len(self.cache),
            device=self.backbone.device,
            num_hidden=num_hidden,
        )
        hidden = self.backbone.forward(rows, self.cache)
        self.cache.commit(list(tokens))
        return hidden

    def end_of_context(self) -> Tensor:
        """Return the hidden state (hidden,) of the context's last token."""
        hidden = self.cache.last_hidden(self.length)
        if hidden is None:
            raise RuntimeError("no context is open: call prefill first")
        return hidden

    @torch.inference_mode()
    def next_logits(self) -> Tensor:
        """Return logits (vocab,) of the token after the open context."""
        return self.backbone.logits(self.end_of_context()[None])[0]

    @torch.inference_mode()
    def extend(self, token: int) -> int:
        """Add one token to the open context; return the forward passes made: 0 if it is held."""
        length = self.length
        if self.cache.ids[length : length + 1] == [token] and self._is_end_known(length + 1):
            self.length += 1
            return 0
        self.cache.crop(length)
        self.cache.keep_last_hidden(self.read([token])[-1].clone())
        self.length += 1
        return 1

    def keep_hole(self, hole_ids: Sequence[int]) -> int:
        """Forget the held hole tokens that differ from these; return how many are left."""
        num_held = common_prefix_length(self.cache.ids[self.length :], hole_ids)
        self.cache.crop(self.length + num_held)
        return num_held

    def rewind(self) -> None:
        """Forget all tokens of the hole."""
        self.keep_hole([])

    def reopen(self, length: int) -> None:
        """Shorten the open context to its first ``length`` tokens and forget the hole.

        If these were copied from another context, the last one is read again.
        """
        self.cache.crop(length)
        self.length = length
        if not self._is_end_known(length):
            self.prefill(list(self.cache.ids))

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Let other fills open contexts between two passes; restore this one afterwards."""
        self._num_suspensions += 1
        own = self.cache, self.length
        try:
            with self._earlier.suspended(self.cache):
                self.cache, self.length = self.backbone.new_cache(), 0
                yield
                self.cache.crop(self.length)  # else the hole would be taken for context
        finally:
            self.cache, self.length = own

    def _is_end_known(self, length: int) -> bool:
        return self.cache.last_hidden(length) is not None
