"""Start a fill from earlier answers: the text that was decoded into the last holes.

A fill that a key cancels has committed some of its text and drafted more. If the user typed a
beginning of that text, or deleted before it, the rest is the start of the next fill. In the same
context committed tokens stay committed. In another context, or if the user typed something else,
the rest is a draft that is verified again. Knows no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.decoding.speculation_policy import NO_PROPOSAL, Proposal
from intarsia.engine.decoding.tokens import HoleTokens, ScoredToken
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.read_request import FillTask
from intarsia.engine.families.stop_rules import may_end_here

_MAX_HELD = 32  # answers
_CHARS_BEFORE = 600  # text before a hole that identifies its place
_LOOKUP_CONTEXT = 2  # context tokens before an answer, for prompt lookup

_TAIL_BYTES = 64
"""Bytes before a hole that identify its place, whatever is edited further up."""

_MIN_TAIL_BYTES = 8  # fewer bytes occur in many places
_MAX_TYPED_BYTES = 200  # between the places of two holes

# assumed probability that a draft token is accepted
_COMMITTED = 0.999  # it was committed in the same context
_COMMITTED_ELSEWHERE = 0.95
_LIKELY = 0.8
_EVEN = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class PastAnswer:
    """An answer, whole or in part. Its first tokens begin with the hole's half-typed bytes."""

    before: bytes  # the end of the text before the answer
    context: list[int]
    max_open: int | None  # of its request
    tokens: HoleTokens
    starts: list[int]  # where each token begins, in bytes from the hole's start
    text: bytes  # from the hole's start


@dataclass(frozen=True, kw_only=True, slots=True)
class WarmStart:
    """Tokens that probably fill a hole, its half-typed bytes included.

    The ``committed`` ones do, if the backbone predicts the same first tokens.
    """

    draft: Proposal
    committed: Sequence[ScoredToken] = ()


class PastAnswers:
    """The answers decoded last, the newest at the end."""

    def __init__(self, text: FimTokenizer) -> None:
        self._text = text
        self._held: list[PastAnswer] = []

    def remember(self, task: FillTask, written: HoleTokens, start: WarmStart | None) -> None:
        """Remember an answer, and the rest of the draft that it follows."""
        tokens, num_written = written, len(written.ids)
        if start is not None and list(start.draft.ids[:num_written]) == written.ids:
            rest = start.draft.part(num_written)
            tokens = written.then(rest.ids, rest.confidences)
        pieces = [self._text.bytes_of(token) for token in tokens.ids]
        offset, starts = -len(task.healed), []
        for piece in pieces:
            starts.append(offset)
            offset += len(piece)
        before = _text_before(task)
        others = [answer for answer in self._held if answer.before != before]
        self._held = [
            *others[-_MAX_HELD + 1 :],
            PastAnswer(
                before=before,
                context=task.context,
                max_open=task.request.max_open,
                tokens=tokens,
                starts=starts,
                text=b"".join(pieces)[len(task.healed) :],
            ),
        ]

    def lookup_rows(self) -> list[list[int]]:
        """Return the ids of each answer after the last ones of its context, oldest first."""
        return [[*past.context[-_LOOKUP_CONTEXT:], *past.tokens.ids] for past in self._held]

    def find(self, task: FillTask) -> WarmStart | None:
        """Return what probably fills this hole.

        The newest answer that was typed along comes first. Else it is the newest one before which
        text was deleted, or where other text was typed instead.
        """
        now = _text_before(task)
        for past in reversed(self._held):
            typed = typed_since(past.before, now)
            if typed is not None and past.text.startswith(typed) and past.starts[-1] >= len(typed):
                return self._continue(past, task, len(typed))
        for past in reversed(self._held):
            deleted, typed = typed_since(now, past.before), typed_since(past.before, now)
            if deleted:
                return self._encode_again(past, task.healed + deleted + past.text, _LIKELY)
            rest = None if typed is None else rest_after(typed, past.text)
            if rest:
                return self._encode_again(past, task.healed + rest, _EVEN)
        return None

    def rest_of(self, start: WarmStart, first_ids: Sequence[int]) -> Proposal:
        """Return the rest of a start after the first tokens that the backbone predicts."""
        if list(start.draft.ids[: len(first_ids)]) == list(first_ids):
            return start.draft.part(len(first_ids))
        rest = rest_after(self._bytes(first_ids), self._bytes(start.draft.ids))
        if not rest:
            return NO_PROPOSAL
        return self._encoded(rest, self._end_of(start.draft.ids), _EVEN)

    def _continue(self, past: PastAnswer, task: FillTask, num_typed: int) -> WarmStart:
        """Continue with the answer's own tokens, if one begins where this hole's first does."""
        start = num_typed - len(task.healed)
        if start not in past.starts:
            return self._encode_again(past, task.healed + past.text[num_typed:], _LIKELY)
        first, tokens = past.starts.index(start), past.tokens
        is_same = [*past.context, *tokens.ids[:first]] == task.context
        confidences = [_COMMITTED if is_same else _COMMITTED_ELSEWHERE] * tokens.num_committed
        confidences += tokens.confidences[tokens.num_committed :]
        draft = Proposal(ids=tokens.ids[first:], confidences=confidences[first:])
        if not is_same:
            return WarmStart(draft=draft)
        num_committed = _num_committed(past, task, num_typed)
        return WarmStart(draft=draft, committed=tokens.scored(first, num_committed))

    def _encode_again(self, past: PastAnswer, text: bytes, chance: float) -> WarmStart:
        return WarmStart(draft=self._encoded(text, self._end_of(past.tokens.ids), chance))

    def _encoded(self, text: bytes, end: Sequence[int], chance: float) -> Proposal:
        ids = [*self._text.encode(text.decode("utf-8", "ignore")), *end]
        confidences = [chance, *[_LIKELY] * (len(ids) - 1)]
        return Proposal(ids=ids, confidences=confidences)

    def _end_of(self, ids: Sequence[int]) -> list[int]:
        """Return the last id if it ends a hole."""
        return [token for token in ids[-1:] if token in self._text.end_ids]

    def _bytes(self, ids: Sequence[int]) -> bytes:
        return b"".join(map(self._text.bytes_of, ids))


def rest_after(typed: bytes, written: bytes) -> bytes | None:
    """Return what follows ``typed`` in ``written``, None if they have little in common.

    If a word differs (``totals`` for ``total``), the text after that word may still be right.
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
    """Return the text typed between two holes, each identified by the text before it.

    None if the second hole is not a short way to the right of the first one.
    """
    tail = before[-_TAIL_BYTES:]
    if len(tail) < _MIN_TAIL_BYTES and before != now[: len(before)]:
        return None
    at = now.rfind(tail, max(0, len(now) - _MAX_TYPED_BYTES - len(tail)))
    return None if at < 0 else now[at + len(tail) :]


def _word_end(text: bytes, at: int) -> int:
    while at < len(text) and _is_word(text[at]):
        at += 1
    return at


def _is_word(byte: int) -> bool:
    return byte > 0x7F or byte == ord("_") or chr(byte).isalnum()


def _text_before(task: FillTask) -> bytes:
    text = task.request.prefix[-_CHARS_BEFORE:] + task.request.given
    return text[-_CHARS_BEFORE:].encode("utf-8", "replace")


def _num_committed(past: PastAnswer, task: FillTask, num_typed: int) -> int:
    """Return how many tokens of an answer are committed in this hole too.

    Where the model may end a hole depends on the brackets that the hole's own text has open. Some
    of the answer's brackets are typed now, so they are before the hole.
    """
    old_limit, new_limit = past.max_open, task.request.max_open
    num_committed = past.tokens.num_committed
    if (old_limit, new_limit) == (None, None):
        return num_committed
    for i in range(num_committed):
        end = max(0, past.starts[i])
        old, new = _decode(past.text[:end]), _decode(past.text[num_typed:end])
        if may_end_here(old, max_open=old_limit) != may_end_here(new, max_open=new_limit):
            return i
    return num_committed


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
