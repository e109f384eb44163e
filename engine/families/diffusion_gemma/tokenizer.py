"""Text round a hole ↔ DiffusionGemma's token ids; the only file that knows its special tokens.

There are no fill-in-the-middle tokens: a suffix too long for the canvas is told in plain words
before the prefix, so that its keys and values stay valid while the prefix grows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

_BEFORE_SUFFIX = "The end of a file, after a gap:\n"
_BEFORE_PREFIX = "\n\nThe same file from its beginning, the gap filled in:\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class SpecialIds:
    """Token ids with a meaning of their own. ``end``: any of them ends the text."""

    begin: int
    end: frozenset[int]
    pad: int

    def __post_init__(self) -> None:
        if not self.end:
            raise ValueError("no token ends a text: the model's generation config names none")

    @property
    def first_end(self) -> int:
        return min(self.end)


class GemmaTokenizer:
    """Encodes what stands round a hole and decodes what was written into it."""

    def __init__(self, tokenizer: Tokenizer, special: SpecialIds) -> None:
        # What looks like a special token in a user's file is text, not a command to the model.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self.special = special

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def context(self, prefix: str, far_suffix: str) -> list[int]:
        """Return what the encoder reads; ``far_suffix`` is empty where the canvas shows it all."""
        before = _BEFORE_SUFFIX + far_suffix + _BEFORE_PREFIX if far_suffix else ""
        return [self.special.begin, *self.encode(before), *self.encode(prefix)]

    def num_before_end(self, ids: Sequence[int]) -> int:
        """Return how many ids stand before the first that ends or pads the text."""
        ends = self.special.end | {self.special.pad}
        return next((i for i, token in enumerate(ids) if token in ends), len(ids))

    def pieces(self, ids: Sequence[int], *, after: Sequence[int]) -> list[str]:
        """Return each id's share of the text; a sign cut over several ids goes to the last one."""
        pieces = []
        written = self._decode(after)
        for index in range(len(ids)):
            text = self._decode([*after, *ids[: index + 1]])
            is_cut = text.endswith("\ufffd") and index + 1 < len(ids)
            pieces.append("" if is_cut else text[len(written) :])
            written = written if is_cut else text
        return pieces

    def _decode(self, ids: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(ids, skip_special_tokens=True)
        return text
