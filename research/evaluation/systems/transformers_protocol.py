"""Messages of the transformers process, one JSON object per line; it gets one Prompt per line."""

from typing import TypeAlias

import msgspec

from intarsia_research.evaluation.systems.baseline_program import Written


class ModelLoaded(msgspec.Struct, frozen=True, kw_only=True, tag="loaded"):
    """The first line: the model is loaded."""

    details: dict[str, str]


class LoadFailed(msgspec.Struct, frozen=True, kw_only=True, tag="unloadable"):
    """The only line: why the model could not be loaded."""

    message: str


Reply: TypeAlias = ModelLoaded | LoadFailed | Written
