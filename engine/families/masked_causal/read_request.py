"""A request for a causal backbone as token ids: what is read before the hole, what may end it.

Comes in: a Fill; goes out: a Hole. Knows no model.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from intarsia.engine.families.masked_causal.context_boundary import (
    MAX_CHARS_BEHIND,
    Anchor,
    Anchors,
    anchor_offset,
)
from intarsia.engine.families.masked_causal.fim_tokenizer import FimTokenizer
from intarsia.engine.families.validate_request import require, require_draft, require_temperature
from intarsia.engine.ipc.messages import Fill

_BLANKS = (" ", "\t")
_SUFFIX_SHARE = 0.25  # of the context, where prefix and suffix together are too long
_BEHIND_SHARE = 0.5  # of the context at most comes on top of it, behind an anchor


@dataclass(frozen=True, kw_only=True, slots=True)
class Hole:
    """A request as token ids, and what may end its work early."""

    request: Fill
    context: list[int]
    healed: bytes  # the last given token's bytes: the first token must continue them
    draft: list[int]  # to be rewritten; empty: filled from nothing
    suffix: list[int]  # of a draft; to a fill it is told by the context
    is_cancelled: Callable[[], bool]
    deadline: float | None  # time.monotonic()

    @property
    def may_be_warm(self) -> bool:
        """Whether it may start from what was written before. The plain backbone, and answers that
        begin otherwise, do not."""
        request = self.request
        is_greedy = request.decoding == "speculative" and not request.temperature
        return is_greedy and not (request.alternative or request.fresh or request.draft)

    @property
    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline


class HoleReader:
    """Reads requests, one after the other, and remembers where their contexts ended."""

    def __init__(self, text: FimTokenizer, *, vocab_size: int, max_context_tokens: int) -> None:
        self._text = text
        self._vocab_size = vocab_size
        self._max_context_tokens = max_context_tokens
        self._anchors = Anchors()
        self._far: Fill | None = None  # the last request, if far behind its anchor

    def read(self, request: Fill, received_at: float, is_cancelled: Callable[[], bool]) -> Hole:
        """Return the hole. Raises ValueError for a field out of its range."""
        self._check(request)
        draft = self._read_draft(request)
        # A draft's tokens are as they are where the hole begins: with a context that ends there.
        context, behind = (self._at_the_hole(request), "") if draft else self._anchored(request)
        written, healed = split_behind(self._text, behind, request.given, is_open=not draft)
        waiting = request.deadline_ms
        return Hole(
            request=request,
            context=[*context, *written],
            healed=healed,
            draft=draft,
            suffix=self._text.encode(request.suffix)[: self._max_context_tokens] if draft else [],
            is_cancelled=is_cancelled,
            deadline=None if waiting is None else received_at + waiting / 1000,
        )

    def far_anchor(self) -> Anchor | None:
        """Return a nearer anchor, not held yet, where the last request stood far behind its own; it
        is told once."""
        last, self._far = self._far, None
        return None if last is None else self._new_anchor(last)

    def hold(self, anchor: Anchor) -> None:
        """Read what comes behind this anchor from there."""
        self._anchors.hold(anchor)

    def _check(self, request: Fill) -> None:
        require("max_tokens", request.max_tokens, least=1, most=self._max_context_tokens)
        require("max_steps", 1 if request.max_steps is None else request.max_steps, least=1)
        require("alternative", request.alternative, least=0, most=self._vocab_size - 1)
        require("num_candidates", request.num_candidates, least=1, most=64)
        require("min_indent", request.min_indent, least=0)
        require("max_open", request.max_open or 0, least=0)
        require_temperature(request.temperature)

    def _anchored(self, request: Fill) -> tuple[Sequence[int], str]:
        """Return the context to open, and what of the prefix stands behind it."""
        found, self._far = self._anchors.find(request.prefix, request.suffix), None
        if found is not None and len(found.behind) > MAX_CHARS_BEHIND // 2:
            self._far = request
        anchor = self._new_anchor(request) if found is None else found.anchor
        if anchor is not None:
            behind = request.prefix[len(anchor.prefix) :]
            if len(self._text.encode(behind)) <= self._max_context_tokens * _BEHIND_SHARE:
                if found is None:
                    self._anchors.hold(anchor)
                return anchor.context, behind
        return self._at_the_hole(request), ""

    def _at_the_hole(self, request: Fill) -> list[int]:
        return self._context(request.prefix, request.suffix)

    def _new_anchor(self, request: Fill) -> Anchor | None:
        offset = anchor_offset(request.prefix)
        if offset is None:
            return None
        prefix, suffix = request.prefix[:offset], request.suffix
        return Anchor(prefix=prefix, suffix=suffix, context=self._context(prefix, suffix))

    def _context(self, prefix: str, suffix: str) -> list[int]:
        return self._text.context(*self._trim(self._text.encode(prefix), self._text.encode(suffix)))

    def _read_draft(self, request: Fill) -> list[int]:
        """Return the draft's ids; where all of them would be masked, nothing of it is left."""
        draft = self._text.encode(request.draft)
        require_draft(len(draft), request)
        return draft if request.noise < 1 else []

    def _trim(self, prefix: list[int], suffix: list[int]) -> tuple[list[int], list[int]]:
        """Keep what stands nearest the hole, where the text is denser in tokens than its sender
        could know."""
        if len(prefix) + len(suffix) <= self._max_context_tokens:
            return prefix, suffix
        least = int(self._max_context_tokens * _SUFFIX_SHARE)
        num_suffix = min(len(suffix), max(least, self._max_context_tokens - len(prefix)))
        num_prefix = self._max_context_tokens - num_suffix
        return prefix[-num_prefix:], suffix[:num_suffix]


def split_behind(
    text: FimTokenizer, behind: str, given: str, *, is_open: bool = True
) -> tuple[list[int], bytes]:
    """Return the ids of what stands between context and hole, and the bytes of the last given
    tokens, where these are open: a draft stands behind whole ones. Both texts are read as one,
    as a token may have a part in both (":" and ":"). Blanks are always open: the model writes
    them together with the word that follows."""
    if is_open and (given or behind[-1:] in _BLANKS):
        return text.split_given(behind + given)
    return text.encode(behind + given), b""
