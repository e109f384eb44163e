"""The bytes of every token of a tokenizer: byte-level BPE, or SentencePiece with byte fallback.

Byte-level BPE (GPT-2) writes each byte as a printable character. SentencePiece's BPE writes a blank
as ▁ and has tokens such as <0x0A> for bytes without a token of their own.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

from tokenizers import Tokenizer, normalizers

BytesOf: TypeAlias = Callable[[str | None], bytes]
"""Takes a token as the tokenizer's file writes it; returns its bytes, none for None."""

BLANK = "▁"
"""SentencePiece's sign for a blank."""

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
        return bytes(_BYTES_OF_CHARACTERS[character] for character in token)
    except KeyError:
        return token.encode()


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


def _bytes_of_characters() -> dict[str, int]:
    """Return the table from printable characters to bytes of byte-level BPE (GPT-2)."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(b): b for b in plain}
    others = [b for b in range(256) if b not in plain]
    return table | {chr(256 + n): b for n, b in enumerate(others)}


_BYTES_OF_CHARACTERS = _bytes_of_characters()
