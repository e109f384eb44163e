"""Text ↔ token ids, and the bytes of every token, which decide how a half-typed word continues.

Byte-level BPE (GPT-2) writes each byte as a printable character. SentencePiece's BPE writes a blank
as ▁, and has tokens such as <0x0A> for bytes without their own.

A tokenizer.json takes half a second to read. So one with many tokens is also kept in the form of
another library, kitoken, which reads it in a tenth of that and encodes four times as fast
(``keep_tokenizer.py`` writes it). A panic of that library ends the process, so it is given only
what was tried: files that are sealed, of this version, and texts of limited length.
"""

import hashlib
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec
from kitoken import Kitoken
from tokenizers import AddedToken, Tokenizer, normalizers

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.cache.own_file import SealedFiles, open_seals, read_regular_bytes
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.fim_marks import KNOWN_MARKS
from intarsia.engine.ipc.ownership import make_own_folder

_MARK = re.compile(r"<\S+>")
# SentencePiece's lists also have plain tokens such as <table>, for HTML.
_SENTENCEPIECE_MARK = re.compile(r"<\|\S+\|>|<unused\d+>")
_OWN_MARKS = {
    mark
    for it in KNOWN_MARKS
    for mark in (it.before_prefix, it.before_suffix, it.before_middle, it.end)
}
_SAMPLE = "\tx = 'é'\n  two"


class TokenCodec(Protocol):
    """A tokenizer, whatever file it came from. No text acts as a special token."""

    @property
    def special(self) -> Mapping[int, str]:
        """The special tokens: their ids and marks."""

    @property
    def begin_ids(self) -> Sequence[int]:
        """The ids that the file puts before each text."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text without lone surrogates."""

    def bytes_of(self, token: int) -> bytes:
        """Return a token's own bytes; a special or unknown one has none."""

    def all_bytes(self) -> list[bytes]:
        """Return the bytes of every token, by its id."""

    def id_of_mark(self, mark: str) -> int | None:
        """Return the id of a special token, None if there is none."""


BytesOf: TypeAlias = Callable[[str | None], bytes]
"""Takes a token as the tokenizer's file writes it; returns its bytes, none for None."""

BLANK = "▁"
"""SentencePiece's sign for a blank."""

_SEPARATOR = "\N{SNOWMAN}"  # stands for no byte
_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")


class HubCodec:
    """A tokenizer of Hugging Face's library. Raises ValueError for one that loses bytes."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.begin_ids = _begin_ids(tokenizer)
        bytes_of = _byte_tokens(tokenizer)
        if bytes_of is None:
            raise ValueError(
                "is neither a byte-level tokenizer nor SentencePiece with byte fallback: "
                "only those are run"
            )
        self.is_byte_level = bytes_of is _byte_level_bytes
        _declare_marks(tokenizer, _MARK if self.is_byte_level else _SENTENCEPIECE_MARK)
        # A special token in a user's file is text, not a command to the model.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self._bytes_of = bytes_of
        self._added = tokenizer.get_added_tokens_decoder()
        self.special = {i: token.content for i, token in self._added.items() if token.special}

    @property
    def num_tokens(self) -> int:
        size: int = self._tokenizer.get_vocab_size()
        return size

    @property
    def is_plain(self) -> bool:
        """Whether a text is bytes to it: no added token is found in one."""
        return self.is_byte_level and len(self._added) == len(self.special)

    def encode(self, text: str) -> list[int]:
        if not self.is_byte_level and BLANK in text:
            return self._encode_blank_signs(text)
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _encode_blank_signs(self, text: str) -> list[int]:
        """Encode a text with the sign itself, which would become a blank, byte by byte there."""
        found = (self._tokenizer.token_to_id(f"<0x{byte:02X}>") for byte in BLANK.encode())
        sign = [token for token in found if token is not None]
        first, *others = [self.encode(part) for part in text.split(BLANK)]
        return [*first, *(token for part in others for token in (*sign, *part))]

    def bytes_of(self, token: int) -> bytes:
        if (added := self._added.get(token)) is not None:
            if added.special:
                return b""
            if self.is_byte_level:
                raw: bytes = added.content.encode()
                return raw
        return self._bytes_of(self._tokenizer.id_to_token(token))

    def all_bytes(self) -> list[bytes]:
        find, size = self._tokenizer.id_to_token, self._tokenizer.get_vocab_size()
        tokens = [find(i) or "" for i in range(size)]
        if "" in tokens:  # there are gaps: some ids are higher
            highest = max(self._tokenizer.get_vocab().values())
            tokens += [find(i) or "" for i in range(size, highest + 1)]
        if self.is_byte_level:
            listed = _all_byte_level_bytes(tokens)
        else:
            listed = [*map(self._bytes_of, tokens)]
        for token in self._added:
            listed[token] = self.bytes_of(token)
        return listed

    def id_of_mark(self, mark: str) -> int | None:
        found: int | None = self._tokenizer.token_to_id(mark)
        return found


def _byte_tokens(tokenizer: Tokenizer) -> BytesOf | None:
    """Return how the tokenizer writes bytes, None if a text does not come back from its tokens.

    A SentencePiece tokenizer is changed so that it adds no blank before a text.
    """
    if _is_lossless(tokenizer, _byte_level_bytes):
        return _byte_level_bytes
    if tokenizer.token_to_id(BLANK) is None or tokenizer.token_to_id("<0x0A>") is None:
        return None
    tokenizer.normalizer = normalizers.Replace(" ", BLANK)
    tokenizer.pre_tokenizer = None
    return _sentencepiece_bytes if _is_lossless(tokenizer, _sentencepiece_bytes) else None


def _is_lossless(tokenizer: Tokenizer, bytes_of: BytesOf) -> bool:
    ids = tokenizer.encode(_SAMPLE, add_special_tokens=False).ids
    return b"".join(bytes_of(tokenizer.id_to_token(i)) for i in ids) == _SAMPLE.encode()


def _byte_level_bytes(token: str | None) -> bytes:
    """Return the bytes of a byte-level token; added tokens may have other characters."""
    if token is None:
        return b""
    try:
        return token.translate(_BYTES_OF_CHARACTERS).encode("latin-1")
    except UnicodeEncodeError:
        return token.encode()


def _all_byte_level_bytes(tokens: Sequence[str]) -> list[bytes]:
    """Return the bytes of each byte-level token; to translate all at once takes a third."""
    parts = _SEPARATOR.join(tokens).translate(_BYTES_OF_CHARACTERS).split(_SEPARATOR)
    if len(parts) != len(tokens):  # an added token may have any character
        return [_byte_level_bytes(token) for token in tokens]
    return [
        characters.encode("latin-1") if characters.isascii() else _byte_level_bytes(token)
        for token, characters in zip(tokens, parts, strict=True)
    ]


def _sentencepiece_bytes(token: str | None) -> bytes:
    """Return the bytes of a token of SentencePiece's BPE."""
    if token is None:
        return b""
    if byte := _BYTE_TOKEN.fullmatch(token):
        return bytes.fromhex(byte[1])
    return token.replace(BLANK, " ").encode()


def _bytes_of_characters() -> dict[int, int]:
    """Return the table from printable characters to bytes of byte-level BPE (GPT-2).

    Characters below 256 that stand for no byte become one that is none.
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {b: b for b in plain} | {b: 0xFFFF for b in others} | dict(enumerate(others, 256))


_BYTES_OF_CHARACTERS = _bytes_of_characters()


def _begin_ids(tokenizer: Tokenizer) -> list[int]:
    """Return the ids that the tokenizer's file puts before each text."""
    sample = "x"
    whole = tokenizer.encode(sample).ids
    plain = tokenizer.encode(sample, add_special_tokens=False).ids
    for start in range(1, len(whole) - len(plain) + 1):
        if whole[start : start + len(plain)] == plain:
            return list(whole[:start])
    return []


def _declare_marks(tokenizer: Tokenizer, pattern: re.Pattern[str]) -> None:
    """Make every added mark a special token: Qwen's files list theirs as plain tokens."""
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    special = [token for token in added if token in _OWN_MARKS or pattern.fullmatch(token)]
    tokenizer.add_special_tokens([AddedToken(mark, normalized=False) for mark in special])


_MOST_BYTES = 100_000_000
MIN_KEPT_TOKENS = 20_000
"""A tokenizer with fewer tokens is read quickly enough."""

_KEEP_AFTER_S = 30.0

MOST_CHARACTERS = 50_000
"""The longest text for kitoken: a run of 500,000 blanks ends the process, 200,000 do not."""


class KeptTokenizer(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a kept file, as MessagePack; ``model`` are the library's own bytes."""

    special: dict[int, str]
    begin: list[int]
    num_tokens: int
    model: bytes


class KeptCodec:
    """A byte-level tokenizer in its kept form; ``whole`` reads the tokenizer.json it came from."""

    def __init__(self, kept: bytes, whole: Callable[[], TokenCodec]) -> None:
        read = msgspec.msgpack.decode(kept, type=KeptTokenizer)
        self._model = Kitoken(read.model)
        self.special, self.begin_ids = read.special, read.begin
        self._num_tokens = read.num_tokens
        self._ids = {mark: i for i, mark in read.special.items()}
        self._read_whole = whole

    @cached_property
    def _whole(self) -> TokenCodec:
        return self._read_whole()

    def encode(self, text: str) -> list[int]:
        if len(text) > MOST_CHARACTERS:
            return self._whole.encode(text)
        return self._model.encode(text)

    def bytes_of(self, token: int) -> bytes:
        if token in self.special:
            return b""
        try:
            return self._model.decode([token])
        except (ValueError, OverflowError):
            return b""

    def all_bytes(self) -> list[bytes]:
        return [*map(self.bytes_of, range(self._num_tokens))]

    def id_of_mark(self, mark: str) -> int | None:
        return self._ids.get(mark)


def read_codec(path: Path) -> TokenCodec:
    """Read a tokenizer.json, or what is kept of it. Raises ModelError."""
    content = read_content(path)
    files = kept_files()
    kept = files.read(kept_name(content)) if files else None
    if kept:
        return KeptCodec(kept, lambda: hub_codec(read_content(path), path))
    codec = hub_codec(content, path)
    if kept is None and files and codec.num_tokens >= MIN_KEPT_TOKENS:
        keep_later(path)
    return codec


def hub_codec(content: bytes, path: Path) -> HubCodec:
    """Read the content of a tokenizer.json. Raises ModelError."""
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:
        raise _unreadable(path, error) from error
    try:
        return HubCodec(tokenizer)
    except ValueError as error:
        raise ModelError(f"{path} {error}") from error


def read_content(path: Path) -> bytes:
    """Return the content of a tokenizer.json. Raises ModelError."""
    try:
        return read_regular_bytes(path, _MOST_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> ModelError:
    return ModelError(f"{path} cannot be read ({error}): fetch the model again")


def kept_name(content: bytes) -> str:
    """Return the name under which the kept form of a tokenizer.json is found."""
    return f"{hashlib.sha256(content).hexdigest()[:32]}-{version('kitoken')}"


def kept_files() -> SealedFiles | None:
    """Return the kept tokenizers; None where others could change them."""
    folder = cache_folder() / "tokenizers"
    with suppress(OSError):
        seals = open_seals()
        if seals is not None and make_own_folder(folder) is None:
            return SealedFiles(folder, seals, suffix=".kept")
    return None


def keep_later(path: Path) -> None:
    """Keep a tokenizer for the next start, once the first fills are done."""
    timer = threading.Timer(_KEEP_AFTER_S, run_keeping, (path,))
    timer.daemon = True
    timer.start()


def run_keeping(path: Path) -> None:
    """Keep a tokenizer in a process of its own (``keep_tokenizer.py``); wait for it."""
    command = [sys.executable, "-P", "-m", f"{__package__}.keep_tokenizer", str(path.absolute())]
    quiet = subprocess.DEVNULL
    folder = cache_folder()  # not the user's project
    subprocess.run(command, cwd=folder, stdin=quiet, stdout=quiet, stderr=quiet, check=False)
