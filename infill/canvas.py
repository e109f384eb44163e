"""A canvas: what the engine gets to see of a file round one hole."""

from dataclasses import dataclass

from intarsia.infill.hole import HoleKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Canvas:
    """Prefix + given + (hole) + suffix, trimmed to a budget, and the rules by which the hole ends.

    The fields prefix … max_tokens go to the engine as they are (see engine.ipc.messages.Fill).
    """

    prefix: str
    given: str
    suffix: str
    stop: tuple[str, ...]
    min_indent: int
    max_tokens: int
    kind: HoleKind
    language: str
