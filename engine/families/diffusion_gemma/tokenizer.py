"""Text around a hole ↔ DiffusionGemma's token ids; only this file knows its special tokens.

There are no fill-in-the-middle tokens. A suffix too long for the canvas is put before the prefix,
introduced in plain words, so that its keys and values stay valid while the prefix grows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

from intarsia.engine.families.chat_form import chat_ids
from intarsia.engine.families.project_text import NO_PROJECT, ProjectIds
from intarsia.engine.ipc.messages import ChatTurn

_BEFORE_SUFFIX = "The end of a file, after a gap:\n"
_BEFORE_PREFIX = "\n\nThe same file from its beginning, the gap filled in:\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class SpecialIds:
    """Token ids with a special meaning; any id of ``end`` ends the text."""

    begin: int
    end: frozenset[int]
    pad: int

    def __post_init__(self) -> None:
        if not self.end:
            raise ValueError("no token ends a text: the model's generation config names none")

    @property
    def first_end(self) -> int:
        """The end token that a canvas shows after a whole suffix."""
        return min(self.end)


class GemmaTokenizer:
    """Encodes the text around a hole and decodes the tokens in it."""

    def __init__(self, tokenizer: Tokenizer, special: SpecialIds) -> None:
        # What looks like a special token in a user's file is text, not a command to the model.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self.special = special

    @property
    def num_tokens(self) -> int:
        """The number of ids, special ones included."""
        num_tokens: int = self._tokenizer.get_vocab_size()
        return num_tokens

    def special_marks(self) -> dict[str, int]:
        """Return the special ids by what each looks like in a text."""
        special = self.special
        ids = (special.begin, special.pad, *sorted(special.end))
        return {str(self._tokenizer.id_to_token(i)): i for i in ids}

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def context(self, prefix: str, far_suffix: str, project: ProjectIds = NO_PROJECT) -> list[int]:
        """Return the ids for the encoder: other files, which change least, come first."""
        before = _BEFORE_SUFFIX + far_suffix + _BEFORE_PREFIX if far_suffix else ""
        return [
            self.special.begin,
            *project.before_mark,
            *self.encode(before),
            *project.in_prefix,
            *self.encode(prefix),
        ]

    def chat_context(self, turn: ChatTurn) -> list[int]:
        """Return the ids for the encoder. Raises ValueError if the chat form is not known."""
        return [self.special.begin, *chat_ids(turn, self._tokenizer.token_to_id, self.encode)]

    def num_before_end(self, ids: Sequence[int]) -> int:
        """Return the number of ids before the first that ends or pads the text."""
        ends = self.special.end | {self.special.pad}
        return next((i for i, token in enumerate(ids) if token in ends), len(ids))

    def pieces(self, ids: Sequence[int], *, after: Sequence[int]) -> list[str]:
        """Return each id's share of the text; a character over several ids goes to the last one."""
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
