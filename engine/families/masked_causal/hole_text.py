"""How a hole's text may begin, where it ends, and its tokens for a client. No model, no torch."""

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer, is_name_byte
from intarsia.engine.families.masked_causal.read_request import FillTask
from intarsia.engine.families.stop_rules import cut_at, find_text_end, may_end_here
from intarsia.engine.ipc.messages import CanvasToken


class HoleText:
    """Reads the ids that were decoded into the hole of one task, its half-typed bytes included."""

    def __init__(self, text: FimTokenizer, task: FillTask) -> None:
        self._text = text
        self._num_given = len(task.healed)
        self._request = task.request

    def tokens(
        self, ids: Sequence[int], confidences: Sequence[float], *, num_committed: int
    ) -> tuple[CanvasToken, ...]:
        """Return the tokens up to the hole's end; the last one is cut where a stop text begins."""
        pieces = self._pieces(ids[: self._num_before_end(ids)])
        kept = cut_at(self._text_end(pieces), pieces)
        return tuple(
            CanvasToken(piece, confidences[i], i < num_committed) for i, piece in enumerate(kept)
        )

    def end_confidence(self, ids: Sequence[int], confidences: Sequence[float]) -> float:
        """Return how probable the end of a hole is, given the tokens that a client gets of it.

        That is the probability of the end token, or of the rest of the stop text: 1 where the last
        token contains all of that, as the token's own confidence says it then.
        """
        num_kept = len(self.tokens(ids, confidences, num_committed=0))
        return prod(confidences[num_kept : len(ids)])

    def num_until_end(self, ids: Sequence[int]) -> int | None:
        """Return how many tokens the hole needs, None while it has not ended.

        The last of these is an end token, or the one that completes a stop text: without the whole
        stop text the end would not be found again.
        """
        num_before_end = self._num_before_end(ids)
        pieces = self._pieces(ids[:num_before_end])
        if self._text_end(pieces) is None:
            return num_before_end + 1 if num_before_end < len(ids) else None
        lengths = range(1, num_before_end + 1)
        return next(n for n in lengths if self._text_end(pieces[:n]) is not None)

    def may_end(self, ids: Sequence[int]) -> bool:
        """Whether an end token may follow these ids."""
        return may_end_here("".join(self._pieces(ids)), max_open=self._request.max_open)

    def _pieces(self, ids: Sequence[int]) -> list[str]:
        return self._text.pieces(ids, num_given=self._num_given)

    def _num_before_end(self, ids: Sequence[int]) -> int:
        return next((i for i, token in enumerate(ids) if token in self._text.end_ids), len(ids))

    def _text_end(self, pieces: Sequence[str]) -> int | None:
        return find_text_end("".join(pieces), self._request)


class Beginning:
    """The required beginning of a hole's text: half-typed bytes, and one of the names that fit.

    Tokens are chosen one by one as long as they are bound. The first one after a whole name must
    not continue the identifier, unless that makes it another of the names.
    """

    def __init__(self, text: FimTokenizer, healed: bytes, names: Sequence[str]) -> None:
        """``names`` follow ``healed``, the bytes that the first token continues; () is any text."""
        self._text = text
        self._written = b""
        self._are_names = bool(names)
        self._starts = [healed + name.encode("utf-8", "replace") for name in names or ("",)]

    @property
    def is_bound(self) -> bool:
        """Whether not every token may follow what is written."""
        if self._are_names:
            return any(start.startswith(self._written) for start in self._starts)
        return len(self._written) < len(self._starts[0])

    def allowed(self) -> npt.NDArray[np.int64]:
        """Return the ids that may follow, in no order, while ``is_bound``."""
        written = self._written
        if not self._are_names:
            return np.array(self._text.continuing(self._starts[0][len(written) :]), dtype=np.int64)
        rests = [it[len(written) :] for it in self._starts if it.startswith(written)]
        found = {token for rest in rests if rest for token in self._within(rest)}
        ids = np.array(sorted(found), dtype=np.int64)
        return np.concatenate([ids, self._text.ids_after_name]) if b"" in rests else ids

    def _within(self, rest: bytes) -> list[int]:
        """Return the tokens of a name, and those that end it."""
        bytes_of = self._text.bytes_of
        ids = self._text.continuing(rest)
        return [it for it in ids if not is_name_byte(bytes_of(it)[len(rest) :])]

    def take(self, token: int) -> None:
        """Add the next token; one without bytes ends the hole."""
        raw = self._text.bytes_of(token)
        self._written += raw
        if not raw:
            self._are_names, self._starts = False, [b""]
