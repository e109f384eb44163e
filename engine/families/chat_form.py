"""How models that follow instructions are asked: the marks of their turns, and which they are.

A user's text is encoded apart from the marks, so that nothing in it acts as one. Knows no model.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from intarsia.engine.ipc.messages import ChatTurn
from intarsia.engine.model_store.catalog import find_model, split_tuning


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatMarks:
    """The special tokens around a turn. Its role follows the first one, on the same line."""

    before_turn: str
    after_turn: str
    answerer: str  # the model's own role


KNOWN_CHAT_MARKS = (
    ChatMarks(  # ChatML: Qwen2.5-Coder-Instruct
        before_turn="<|im_start|>", after_turn="<|im_end|>", answerer="assistant"
    ),
    ChatMarks(  # Gemma 4, DiffusionGemma
        before_turn="<|turn>", after_turn="<turn|>", answerer="model"
    ),
)


def chat_ids(
    turn: ChatTurn, id_of: Callable[[str], int | None], encode: Callable[[str], list[int]]
) -> list[int]:
    """Return a prompt up to the answer. ``encode`` takes marks in a text as text.

    Raises ValueError where the tokenizer has the marks of no known chat form.
    """
    for marks in KNOWN_CHAT_MARKS:
        start, end = map(id_of, (marks.before_turn, marks.after_turn))
        if start is not None and end is not None:
            break
    else:
        raise ValueError("the form in which this model is asked is not known: choose another model")
    ids: list[int] = []
    for role, text in (("system", turn.system), ("user", turn.user)):
        ids += [start, *encode(f"{role}\n{text}"), end, *encode("\n")]
    return [*ids, start, *encode(f"{marks.answerer}\n")]


_INSTRUCTED = re.compile(r"(?<![a-z])(?:instruct|instruction|chat|it)(?![a-z])", re.IGNORECASE)
_BASE = re.compile(r"(?<![a-z])base(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Following:
    """Whether a model follows instructions. ``refusal``: why not; ``caution``: how badly."""

    refusal: str = ""
    caution: str = ""

    def require(self) -> None:
        """Raise ValueError where the model does not."""
        if self.refusal:
            raise ValueError(self.refusal)


NOT_TOLD = Following(refusal="it is not known whether this model follows instructions")


def following_of(name: str, *, is_instructed_by_default: bool = False) -> Following:
    """Return what a model's name says; a catalog model's is that of its file.

    Base models have the marks of a chat too, and answer with anything.
    """
    row = find_model(split_tuning(name)[0])
    full_name = name if row is None else row.file_name
    is_named = _INSTRUCTED.search(full_name) is not None
    if is_named or (is_instructed_by_default and not _BASE.search(full_name)):
        return Following(caution="" if row is None else row.caution)
    return Following(
        refusal=f"{name} does not follow instructions, as far as its name tells (instruct, chat, "
        "it): choose a model that does"
    )
