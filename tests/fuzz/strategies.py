"""Hypothesis strategies of broken input: texts, positions, changes, JSON and damaged bytes."""

import json
from collections.abc import Sequence

from hypothesis import strategies as st
from lsprotocol import types

CHARACTERS: Sequence[str] = (
    *("a", "b", " ", "\t", "\n", "\r", "\r\n", "\n\n", "\x0b", "\x0c", "\x1c", "\x85", "\0"),
    *("ß", "é", "e\u0301", "日", "😀", "\ud83d", "\ude00", "\U0001f468\u200d", "\u2028", "\ufeff"),
    *("\x7f", "\u07ff", "\u0800", "\uffff", "\U00010000", "\U0010ffff", "word", "\u202e"),
)


def joined(pieces: Sequence[str], most: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=most).map("".join)


def as_sent(text: str) -> str:
    """Return a text as JSON has it: two surrogates that meet become one character."""
    return str(json.loads(json.dumps(text)))


texts = joined(CHARACTERS, 32)
numbers = st.integers(0, 23) | st.integers(0, 2**31 - 1)
positions = st.builds(types.Position, numbers, numbers)
changes = st.lists(
    st.builds(
        types.TextDocumentContentChangePartial,
        range=st.builds(types.Range, positions, positions),
        text=joined(CHARACTERS, 12).map(as_sent),
    )
    | st.builds(types.TextDocumentContentChangeWholeDocument, text=texts.map(as_sent)),
    max_size=4,
)


def json_values(keys: st.SearchStrategy[str]) -> st.SearchStrategy[object]:
    """Return values of JSON; objects have these keys."""
    leaves = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text()
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=10,
    )


def damaged(good: bytes) -> st.SearchStrategy[bytes]:
    """Return these bytes with a part of them replaced by any others."""
    return st.builds(
        lambda start, num_bytes, new: good[:start] + new + good[start + num_bytes :],
        st.integers(0, len(good)),
        st.integers(0, 255),
        st.binary(max_size=200),
    )
