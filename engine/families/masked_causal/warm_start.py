"""What was written into the last holes, and how it goes on in a new one.

A fill that a key cancels has proven some of its text and proposed more. Where the next hole lies
behind what was typed of it, or before what was deleted, that is the start; in another context, or
where the user went another way, it is a draft to be proven anew. Knows no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.decoding.proposal import NOTHING, Proposal
from intarsia.engine.decoding.tokens import ScoredToken, Settled
from intarsia.engine.families.masked_causal.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.read_request import Hole
from intarsia.engine.families.stop_rules import may_end_here

_TAIL = 64
"""Bytes before a hole by which its place is known again, whatever is edited further up."""

_LEAST = 8  # bytes: fewer stand anywhere
_MOST_TYPED = 200  # bytes, behind the place of another hole


def rest_behind(typed: bytes, written: bytes) -> bytes | None:
    """Return what follows in ``written`` behind ``typed``; None where they have little in common.

    Where a word differs (``totals`` for ``total``), what stands behind it may still be right.
    """
    i = j = 0
    while i < len(typed):
        if j < len(written) and typed[i] == written[j]:
            i, j = i + 1, j + 1
            continue
        is_in_word = _is_word(typed[i]) or (j < len(written) and _is_word(written[j]))
        if not is_in_word or j >= len(written):
            return None
        i, j = _word_end(typed, i), _word_end(written, j)
    return written[j:]


def typed_since(before: bytes, now: bytes) -> bytes | None:
    """Return what was typed between a hole and another one on its right; None: they are not at one
    place. Each is told by the text before it."""
    tail = before[-_TAIL:]
    if len(tail) < _LEAST and before != now[: len(before)]:
        return None
    at = now.rfind(tail, max(0, len(now) - _MOST_TYPED - len(tail)))
    return None if at < 0 else now[at + len(tail) :]


def _word_end(text: bytes, at: int) -> int:
    while at < len(text) and _is_word(text[at]):
        at += 1
    return at


def _is_word(byte: int) -> bool:
    return byte > 0x7F or byte == ord("_") or chr(byte).isalnum()


_CHARS_BEFORE = 600  # of a hole, to know its place by
_KEY = 2  # context tokens before an answer, by which it is looked up
_PROVEN = 0.999
_SURE = 0.95  # that a token which was proven in another context is kept in this one
_LIKELY = 0.8
_EVEN = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Recollection:
    """An answer, whole or in part. Its first tokens hold the hole's open bytes."""

    before: bytes  # the end of the text before the answer
    context: list[int]
    max_open: int | None  # as the request had it
    ids: list[int]
    confidences: list[float]
    entropies: list[float]
    num_proven: int  # of the tokens; those behind are proposed
    starts: list[int]  # where each begins, in bytes from the hole's start
    answer: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class WarmStart:
    """Tokens that probably fill a hole, from its open bytes on; the first ``proven`` do, if their
    first ones are named anew."""

    draft: Proposal
    proven: Sequence[ScoredToken] = ()


class Recollections:
    """The answers written last, the newest at the end."""

    def __init__(self, text: FimTokenizer, *, most: int = 32) -> None:
        self._text = text
        self._most = most
        self._held: list[Recollection] = []

    def hold(self, hole: Hole, written: Settled, start: WarmStart | None) -> None:
        """Remember an answer, and what is left of the draft that it follows."""
        ids, confidences = list(written.ids), list(written.confidences)
        if start is not None and list(start.draft.ids[: len(ids)]) == ids:
            left = start.draft.part(len(ids))
            ids, confidences = [*ids, *left.ids], [*confidences, *left.confidences]
        pieces = [self._text.bytes_of(token) for token in ids]
        offset, starts = -len(hole.healed), []
        for piece in pieces:
            starts.append(offset)
            offset += len(piece)
        before = _before(hole)
        self._held = [it for it in self._held if it.before != before][-self._most + 1 :]
        self._held.append(
            Recollection(
                before=before,
                context=hole.context,
                max_open=hole.request.max_open,
                ids=ids,
                confidences=confidences,
                entropies=list(written.entropies),
                num_proven=written.num_committed,
                starts=starts,
                answer=b"".join(pieces)[len(hole.healed) :],
            )
        )

    def rows(self) -> list[list[int]]:
        """Return the answers' tokens, each behind the last ones before it, oldest first."""
        return [[*it.context[-_KEY:], *it.ids] for it in self._held]

    def recall(self, hole: Hole) -> WarmStart | None:
        """Return what probably fills this hole: the newest answer that was typed along, else the
        newest of which something was deleted, or from which the user went another way."""
        now = _before(hole)
        for it in reversed(self._held):
            typed = typed_since(it.before, now)
            if typed is not None and it.answer.startswith(typed) and it.starts[-1] >= len(typed):
                return self._along(it, hole, len(typed))
        for it in reversed(self._held):
            deleted, typed = typed_since(now, it.before), typed_since(it.before, now)
            if deleted:
                return self._anew(it, hole.healed + deleted + it.answer, _LIKELY)
            rest = None if typed is None else rest_behind(typed, it.answer)
            if rest:
                return self._anew(it, hole.healed + rest, _EVEN)
        return None

    def behind(self, start: WarmStart, named: Sequence[int]) -> Proposal:
        """Return what is left of a start behind the first tokens, as they are named now."""
        if list(start.draft.ids[: len(named)]) == list(named):
            return start.draft.part(len(named))
        rest = rest_behind(self._bytes(named), self._bytes(start.draft.ids))
        if not rest:
            return NOTHING
        ended = [token for token in start.draft.ids[-1:] if token in self._text.end_ids]
        return self._encoded(rest, ended, _EVEN)

    def _along(self, it: Recollection, hole: Hole, num_typed: int) -> WarmStart:
        """Go on with its own tokens if one begins where this hole's first one does."""
        start = num_typed - len(hole.healed)
        if start not in it.starts:
            return self._anew(it, hole.healed + it.answer[num_typed:], _LIKELY)
        first = it.starts.index(start)
        is_same = [*it.context, *it.ids[:first]] == hole.context
        chances = [_PROVEN if is_same else _SURE] * it.num_proven
        chances += it.confidences[it.num_proven :]
        draft = Proposal(ids=it.ids[first:], confidences=chances[first:], is_draft=True)
        if not is_same:
            return WarmStart(draft=draft)
        proven = [
            ScoredToken(id=it.ids[i], confidence=it.confidences[i], entropy=it.entropies[i])
            for i in range(first, _num_proven(it, hole, num_typed))
        ]
        return WarmStart(draft=draft, proven=proven)

    def _anew(self, it: Recollection, written: bytes, chance: float) -> WarmStart:
        ended = [token for token in it.ids[-1:] if token in self._text.end_ids]
        return WarmStart(draft=self._encoded(written, ended, chance))

    def _encoded(self, written: bytes, ended: Sequence[int], chance: float) -> Proposal:
        ids = [*self._text.encode(written.decode("utf-8", "ignore")), *ended]
        chances = [chance, *[_LIKELY] * (len(ids) - 1)]
        return Proposal(ids=ids, confidences=chances, is_draft=True)

    def _bytes(self, ids: Sequence[int]) -> bytes:
        return b"".join(map(self._text.bytes_of, ids))


def _before(hole: Hole) -> bytes:
    text = hole.request.prefix[-_CHARS_BEFORE:] + hole.request.given
    return text[-_CHARS_BEFORE:].encode("utf-8", "replace")


def _num_proven(it: Recollection, hole: Hole, num_typed: int) -> int:
    """Return how many tokens are proven in this hole too: where the model may end it hangs on
    the brackets that its own text has open, of which some are typed now."""
    limits = it.max_open, hole.request.max_open
    if limits == (None, None):
        return it.num_proven
    for i in range(it.num_proven):
        old, new = it.answer[: max(0, it.starts[i])], it.answer[num_typed : max(0, it.starts[i])]
        if may_end_here(_text(old), max_open=limits[0]) != may_end_here(
            _text(new), max_open=limits[1]
        ):
            return i
    return it.num_proven


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
