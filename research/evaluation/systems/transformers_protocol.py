"""What the transformers process says: one JSON object a line. It is asked with a Prompt a line."""

from typing import TypeAlias

import msgspec

from intarsia.research.evaluation.systems.baseline_program import Written


class Loaded(msgspec.Struct, frozen=True, kw_only=True, tag="loaded"):
    """Its first line: the model is there."""

    details: dict[str, str]


class Unloadable(msgspec.Struct, frozen=True, kw_only=True, tag="unloadable"):
    """Its first and last line: why the model is not."""

    message: str


Said: TypeAlias = Loaded | Unloadable | Written
