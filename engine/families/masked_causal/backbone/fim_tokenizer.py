"""Text around a hole ↔ token ids, in a backbone's own fill-in-the-middle (FIM) order.

Only this file of the family knows what special tokens mean.
"""

import codecs
import json
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from intarsia.engine.cache.own_file import read_regular
from intarsia.engine.errors import ModelError
from intarsia.engine.families.chat_form import chat_ids
from intarsia.engine.families.masked_causal.backbone.fim_marks import (
    KNOWN_MARKS,
    KNOWN_REPOSITORY_MARKS,
    FimMarks,
    RepositoryMarks,
)
from intarsia.engine.families.masked_causal.backbone.token_codec import TokenCodec, read_codec
from intarsia.engine.families.project_text import NO_PROJECT, ProjectIds
from intarsia.engine.ipc.messages import ChatTurn

_EMPTY_SUFFIX = "\n"  # an empty suffix switches fill-in-the-middle off


@dataclass(frozen=True, kw_only=True, slots=True)
class FimIds:
    """The FIM marks as ids."""

    before_prefix: int
    before_suffix: int
    before_middle: int
    end: int


class FimTokenizer:
    """Encodes the text around a hole and decodes the tokens in it.

    ``repository`` are the backbone's marks for other files, None if it knows none; ``begin`` are
    the ids that begin every text of the model.
    """

    def __init__(
        self,
        codec: TokenCodec,
        marks: FimMarks,
        repository: RepositoryMarks | None = None,
        *,
        begin: Sequence[int] = (),
    ) -> None:
        self._codec = codec
        self.marks = marks
        self.repository = repository
        self.begin_ids = list(begin)
        self.end_ids = frozenset(codec.special)

    @cached_property
    def num_tokens(self) -> int:
        """The number of ids, special ones included."""
        return len(self._bytes)

    @cached_property
    def _bytes(self) -> list[bytes]:
        """The bytes of every token, for what is asked of all at once; none for an unused id."""
        return self._codec.all_bytes()

    def special_tokens(self) -> dict[int, str]:
        """Return the texts of the special tokens, which act where another tokenizer meets them."""
        return dict(self._codec.special)

    def mark_ids(self) -> FimIds:
        """Return the ids of the marks. Raises ModelError if the tokenizer lacks the end mark."""
        marks = self.marks
        return FimIds(
            before_prefix=self.mark_id(marks.before_prefix),
            before_suffix=self.mark_id(marks.before_suffix),
            before_middle=self.mark_id(marks.before_middle),
            end=self.mark_id(marks.end),
        )

    def fim_marks(self) -> dict[str, int]:
        """Return the marks of a prompt and their ids."""
        marks = self.marks
        names = (marks.before_prefix, marks.before_suffix, marks.before_middle)
        return {name: self.mark_id(name) for name in names}

    def encode(self, text: str) -> list[int]:
        """Return the ids of plain text. Lone surrogates become replacement characters."""
        return self._codec.encode(text.encode("utf-8", "replace").decode("utf-8"))

    def is_within(self, text: str, max_tokens: int) -> bool:
        """Return whether a text has at most this many tokens. A token has a byte or more."""
        num_bytes = len(text.encode("utf-8", "replace"))
        return num_bytes < max_tokens or len(self.encode(text)) <= max_tokens

    def mark_id(self, mark: str) -> int:
        """Return the id of a special token. Raises ModelError if the tokenizer lacks it."""
        mark_id = self._codec.id_of_mark(mark)
        if mark_id is None:
            raise ModelError(f"the tokenizer lacks {mark}: the folder is damaged")
        return mark_id

    def context(
        self, prefix: Sequence[int], suffix: Sequence[int], project: ProjectIds = NO_PROJECT
    ) -> list[int]:
        """Return the prompt up to the middle; a fill continues it."""
        marks = self.marks
        before = [self.mark_id(marks.before_prefix), *project.in_prefix, *prefix]
        after = [self.mark_id(marks.before_suffix), *(suffix or self.encode(_EMPTY_SUFFIX))]
        parts = (after, before) if marks.is_suffix_first else (before, after)
        middle = [self.mark_id(marks.before_middle)] if marks.is_middle_marked else []
        return [*self.begin_ids, *project.before_mark, *parts[0], *parts[1], *middle]

    def chat_context(self, turn: ChatTurn) -> list[int]:
        """Return the prompt up to the answer. Raises ValueError if the chat form is not known."""
        return [*self.begin_ids, *chat_ids(turn, self._codec.id_of_mark, self.encode)]

    def without_suffix(self, context: Sequence[int]) -> list[int]:
        """Return a context, and the ids after it, as a plain text that ends at the hole."""
        marks = self.marks
        start = context.index(self.mark_id(marks.before_suffix))
        if not marks.is_suffix_first:
            middle = context.index(self.mark_id(marks.before_middle))
            return [*context[:start], *context[middle + 1 :]]
        rest = list(context[context.index(self.mark_id(marks.before_prefix)) :])
        if marks.is_middle_marked:
            rest.remove(self.mark_id(marks.before_middle))
        return [*context[:start], *rest]

    def split_given(self, given: str) -> tuple[list[int], bytes]:
        """Return the ids of given text, and the bytes of its last tokens (token healing).

        The bytes are the longest end of the text that one token begins with. They only constrain
        the fill, because the model may prefer that token: " ret" and "u" are given as the bytes
        " retu", so that the model can write " return".
        """
        ids = self.encode(given)
        num_kept, healed, tail = len(ids), b"", b""
        for number in range(len(ids) - 1, -1, -1):
            tail = self.bytes_of(ids[number]) + tail
            if len(tail) > self._longest:
                break
            order, keys = self._sorted
            at = bisect_left(keys, tail)
            if at < len(order) and keys[at].startswith(tail):
                num_kept, healed = number, tail
        return ids[:num_kept], healed

    def list_tokens(self) -> None:
        """List the bytes of all tokens, half a second of work, before a fill asks for that."""
        self._sorted  # noqa: B018

    def bytes_of(self, token: int) -> bytes:
        """Return a token's own bytes; an end token has none."""
        return self._codec.bytes_of(token)

    def id_of(self, raw: bytes) -> int | None:
        """Return the first token with exactly these bytes, None without one."""
        order, keys = self._sorted
        at = bisect_left(keys, raw)
        return order[at] if at < len(keys) and keys[at] == raw else None

    def ids_of_bytes(self, raw: bytes) -> list[int]:
        """Return one id for each byte that is a token of its own: for pieces of a character."""
        found = (self.id_of(bytes([byte])) for byte in raw)
        return [token for token in found if token is not None]

    def continuing(self, given: bytes) -> list[int]:
        """Return the ids of tokens that begin with these bytes, or that these bytes begin with."""
        order, keys = self._sorted
        first = bisect_left(keys, given)
        last = bisect_left(keys, given + b"\xff" * 8)  # no UTF-8 byte is ff
        shorter = []
        for length in range(1, len(given)):
            at = bisect_left(keys, given[:length])
            while at < len(keys) and keys[at] == given[:length]:
                shorter.append(order[at])
                at += 1
        return order[first:last] + shorter

    @cached_property
    def ids_after_name(self) -> npt.NDArray[np.int64]:
        """The ids of all tokens that continue no identifier, those without bytes included."""
        others = [i for i, raw in enumerate(self._bytes) if not is_name_byte(raw)]
        return np.array(others, dtype=np.int64)

    def pieces(self, ids: Sequence[int], *, num_given: int) -> list[str]:
        """Return each id's text after ``num_given`` bytes; a split character is the last one's."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        pieces = []
        for token in ids:
            raw = self.bytes_of(token)
            pieces.append(decoder.decode(raw[num_given:]))
            num_given = max(0, num_given - len(raw))
        return pieces

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._bytes))

    @cached_property
    def _sorted(self) -> tuple[list[int], list[bytes]]:
        order = [i for i, raw in enumerate(self._bytes) if raw]
        order.sort(key=self._bytes.__getitem__)
        return order, [self._bytes[i] for i in order]


def is_name_byte(raw: bytes) -> bool:
    """Whether the first byte, if there is one, may be of an identifier: beyond ASCII any may."""
    return raw[:1].isalnum() or raw[:1] == b"_" or raw[:1] >= b"\x80"


def read_fim_tokenizer(folder: Path) -> FimTokenizer:
    """Read a folder's tokenizer.json. Raises ModelError if it is damaged or has no FIM marks."""
    codec = read_codec(folder / "tokenizer.json")
    marks = _known_marks(codec.id_of_mark)
    if marks is None:
        known = ", ".join(marks.before_middle for marks in KNOWN_MARKS)
        raise ModelError(
            f"{folder} is no fill-in-the-middle model: its tokenizer has none of {known}"
        )
    begin = codec.begin_ids or _begin_in_settings(folder, codec.id_of_mark)
    return FimTokenizer(codec, marks, _repository_marks(codec.id_of_mark), begin=begin)


FindMark: TypeAlias = Callable[[str], int | None]


def _known_marks(find: FindMark) -> FimMarks | None:
    found = [
        marks
        for marks in KNOWN_MARKS
        if all(
            find(mark) is not None
            for mark in (marks.before_prefix, marks.before_suffix, marks.before_middle)
        )
    ]
    with_end = (marks for marks in found if find(marks.end) is not None)
    return next(with_end, found[0] if found else None)


def _begin_in_settings(folder: Path, find: FindMark) -> list[int]:
    """Return the id before each text, where transformers adds it by the tokenizer's settings."""
    try:
        settings = json.loads(read_regular(folder / "tokenizer_config.json"))
        token = settings["bos_token"] if settings.get("add_bos_token") is True else None
        content = token["content"] if isinstance(token, dict) else token
        begin = None if content is None else find(content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []  # not every model has this file
    return [] if begin is None else [begin]


def _repository_marks(find: FindMark) -> RepositoryMarks | None:
    for marks in KNOWN_REPOSITORY_MARKS:
        if all(find(mark) for mark in (marks.before_name, marks.before_file)):
            return marks
    return None
