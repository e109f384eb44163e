"""Text around a hole ↔ token ids, in a backbone's own fill-in-the-middle (FIM) order.

Only this file of the family knows special tokens, and the bytes of every token, which decide how a
half-typed word can continue. Byte-level BPE (GPT-2) writes each byte as a printable character.
SentencePiece's BPE writes a blank as ▁, and has tokens such as <0x0A> for bytes without their own.
"""

import codecs
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import AddedToken, Tokenizer, normalizers

from intarsia.engine.cache.own_file import read_regular
from intarsia.engine.errors import ModelError
from intarsia.engine.families.chat_form import chat_ids
from intarsia.engine.families.masked_causal.backbone.fim_marks import (
    KNOWN_MARKS,
    KNOWN_REPOSITORY_MARKS,
    FimMarks,
    RepositoryMarks,
)
from intarsia.engine.families.project_text import NO_PROJECT, ProjectIds
from intarsia.engine.ipc.messages import ChatTurn

_MARK = re.compile(r"<\S+>")
# SentencePiece's lists also have plain tokens such as <table>, for HTML.
_SENTENCEPIECE_MARK = re.compile(r"<\|\S+\|>|<unused\d+>")
_EMPTY_SUFFIX = "\n"  # an empty suffix switches fill-in-the-middle off

BytesOf: TypeAlias = Callable[[str | None], bytes]
"""Takes a token as the tokenizer's file writes it; returns its bytes, none for None."""

BLANK = "▁"
"""SentencePiece's sign for a blank."""

_SEPARATOR = "\N{SNOWMAN}"  # stands for no byte

_SAMPLE = "\tx = 'é'\n  two"
_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")


def byte_tokens(tokenizer: Tokenizer) -> BytesOf | None:
    """Return how the tokenizer writes bytes, None if a text does not come back from its tokens.

    A SentencePiece tokenizer is changed so that it adds no blank before a text.
    """
    if _is_lossless(tokenizer, byte_level_bytes):
        return byte_level_bytes
    if tokenizer.token_to_id(BLANK) is None or tokenizer.token_to_id("<0x0A>") is None:
        return None
    tokenizer.normalizer = normalizers.Replace(" ", BLANK)
    tokenizer.pre_tokenizer = None
    return sentencepiece_bytes if _is_lossless(tokenizer, sentencepiece_bytes) else None


def byte_level_bytes(token: str | None) -> bytes:
    """Return the bytes of a byte-level token; added tokens may have other characters."""
    if token is None:
        return b""
    try:
        return token.translate(_BYTES_OF_CHARACTERS).encode("latin-1")
    except UnicodeEncodeError:
        return token.encode()


def all_byte_level_bytes(tokens: Sequence[str]) -> list[bytes]:
    """Return the bytes of each byte-level token; to translate all at once takes a third."""
    parts = _SEPARATOR.join(tokens).translate(_BYTES_OF_CHARACTERS).split(_SEPARATOR)
    if len(parts) != len(tokens):  # an added token may have any character
        return [byte_level_bytes(token) for token in tokens]
    return [
        characters.encode("latin-1") if characters.isascii() else byte_level_bytes(token)
        for token, characters in zip(tokens, parts, strict=True)
    ]


def sentencepiece_bytes(token: str | None) -> bytes:
    """Return the bytes of a token of SentencePiece's BPE."""
    if token is None:
        return b""
    if byte := _BYTE_TOKEN.fullmatch(token):
        return bytes.fromhex(byte[1])
    return token.replace(BLANK, " ").encode()


def _is_lossless(tokenizer: Tokenizer, bytes_of: BytesOf) -> bool:
    ids = tokenizer.encode(_SAMPLE, add_special_tokens=False).ids
    return b"".join(bytes_of(tokenizer.id_to_token(i)) for i in ids) == _SAMPLE.encode()


def _bytes_of_characters() -> dict[int, int]:
    """Return the table from printable characters to bytes of byte-level BPE (GPT-2).

    Characters below 256 that stand for no byte become one that is none.
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {b: b for b in plain} | {b: 0xFFFF for b in others} | dict(enumerate(others, 256))


_BYTES_OF_CHARACTERS = _bytes_of_characters()


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
        tokenizer: Tokenizer,
        marks: FimMarks,
        repository: RepositoryMarks | None = None,
        *,
        bytes_of: BytesOf = byte_level_bytes,
        begin: Sequence[int] = (),
    ) -> None:
        self._has_blank_sign = bytes_of is sentencepiece_bytes
        _declare_marks(tokenizer, marks, _SENTENCEPIECE_MARK if self._has_blank_sign else _MARK)
        # A special token in a user's file is text, not a command to the model.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self.marks = marks
        self.repository = repository
        self.begin_ids = list(begin)
        self._bytes_of = bytes_of
        self._added = tokenizer.get_added_tokens_decoder()
        self.end_ids = frozenset(i for i, token in self._added.items() if token.special)

    @cached_property
    def num_tokens(self) -> int:
        """The number of ids, special ones included."""
        return len(self._bytes)

    @cached_property
    def _bytes(self) -> list[bytes]:
        """The bytes of every token, for what is asked of all at once; none for an unused id."""
        find, size = self._tokenizer.id_to_token, self._tokenizer.get_vocab_size()
        tokens = [find(i) or "" for i in range(size)]
        if "" in tokens:  # there are gaps: some ids are higher
            highest = max(self._tokenizer.get_vocab().values())
            tokens += [find(i) or "" for i in range(size, highest + 1)]
        is_byte_level = self._bytes_of is byte_level_bytes
        listed = all_byte_level_bytes(tokens) if is_byte_level else [*map(self._bytes_of, tokens)]
        for token in self._added:
            listed[token] = self.bytes_of(token)
        return listed

    def special_tokens(self) -> dict[int, str]:
        """Return the texts of the special tokens, which act where another tokenizer meets them."""
        added = self._tokenizer.get_added_tokens_decoder()
        return {token: added[token].content for token in self.end_ids}

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
        clean = text.encode("utf-8", "replace").decode("utf-8")
        if self._has_blank_sign and BLANK in clean:
            return self._encode_blank_signs(clean)
        ids: list[int] = self._tokenizer.encode(clean, add_special_tokens=False).ids
        return ids

    def is_within(self, text: str, max_tokens: int) -> bool:
        """Tell whether a text has at most this many tokens. A token has a byte or more."""
        num_bytes = len(text.encode("utf-8", "replace"))
        return num_bytes < max_tokens or len(self.encode(text)) <= max_tokens

    def _encode_blank_signs(self, text: str) -> list[int]:
        """Encode a text with the sign itself, which would become a blank, byte by byte there."""
        sign = [self.mark_id(f"<0x{byte:02X}>") for byte in BLANK.encode()]
        first, *others = (self.encode(part) for part in text.split(BLANK))
        return [*first, *(token for part in others for token in (*sign, *part))]

    def mark_id(self, mark: str) -> int:
        """Return the id of a special token. Raises ModelError if the tokenizer lacks it."""
        mark_id: int | None = self._tokenizer.token_to_id(mark)
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
        return [*self.begin_ids, *chat_ids(turn, self._tokenizer, self.encode)]

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
        if (added := self._added.get(token)) is not None:
            if added.special:
                return b""
            if not self._has_blank_sign:
                raw: bytes = added.content.encode()
                return raw
        return self._bytes_of(self._tokenizer.id_to_token(token))

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
    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise ModelError(f"{path} cannot be read ({error}): fetch the model again") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    marks = _known_marks(tokenizer)
    if marks is None:
        known = ", ".join(marks.before_middle for marks in KNOWN_MARKS)
        raise ModelError(
            f"{folder} is no fill-in-the-middle model: its tokenizer has none of {known}"
        )
    begin = _begin_ids(tokenizer, folder)
    bytes_of = byte_tokens(tokenizer)
    if bytes_of is None:
        raise ModelError(
            f"{path} is neither a byte-level tokenizer nor SentencePiece with byte fallback: "
            "only those are run"
        )
    return FimTokenizer(
        tokenizer, marks, _repository_marks(tokenizer), bytes_of=bytes_of, begin=begin
    )


def _known_marks(tokenizer: Tokenizer) -> FimMarks | None:
    found = [
        marks
        for marks in KNOWN_MARKS
        if all(
            tokenizer.token_to_id(mark) is not None
            for mark in (marks.before_prefix, marks.before_suffix, marks.before_middle)
        )
    ]
    with_end = (marks for marks in found if tokenizer.token_to_id(marks.end) is not None)
    return next(with_end, found[0] if found else None)


def _begin_ids(tokenizer: Tokenizer, folder: Path) -> list[int]:
    """Return the ids that the model's own tokenizer puts before each text.

    Its file may say so, or its settings, where transformers adds the token on its own.
    """
    sample = "x"
    whole = tokenizer.encode(sample).ids
    plain = tokenizer.encode(sample, add_special_tokens=False).ids
    for start in range(1, len(whole) - len(plain) + 1):
        if whole[start : start + len(plain)] == plain:
            return list(whole[:start])
    try:
        settings = json.loads(read_regular(folder / "tokenizer_config.json"))
        token = settings["bos_token"] if settings.get("add_bos_token") is True else None
        content = token["content"] if isinstance(token, dict) else token
        begin = None if content is None else tokenizer.token_to_id(content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []  # not every model has this file
    return [] if begin is None else [begin]


def _repository_marks(tokenizer: Tokenizer) -> RepositoryMarks | None:
    for marks in KNOWN_REPOSITORY_MARKS:
        if all(tokenizer.token_to_id(mark) for mark in (marks.before_name, marks.before_file)):
            return marks
    return None


def _declare_marks(tokenizer: Tokenizer, marks: FimMarks, pattern: re.Pattern[str]) -> None:
    """Make every added mark a special token: Qwen's files list theirs as plain tokens."""
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    own = (marks.before_prefix, marks.before_suffix, marks.before_middle, marks.end)
    special = [token for token in added if token in own or pattern.fullmatch(token)]
    tokenizer.add_special_tokens([AddedToken(mark, normalized=False) for mark in special])
