"""What a client asks, whatever API it speaks: a hole, code of other files, and limits."""

from dataclasses import dataclass, replace

from intarsia.infill.languages import Language

MAX_TOKENS = 512
MAX_TEXTS = 8
NEAR_CHARS = 60_000
"""How far around the hole a text is read: several times what a model is shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherFile:
    """A passage of another file; an empty ``path`` is unknown."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """The text before and after the hole, and what the client says about the rest."""

    prefix: str
    suffix: str
    path: str = ""  # of the file with the hole; empty: unknown
    repository: str = ""
    files: tuple[OtherFile, ...] = ()  # those that rarely change come first


def near_hole(context: Context) -> Context:
    """Return the context with whole lines near the hole only, so that no text takes long to parse.

    A longer line is cut.
    """
    prefix, suffix = context.prefix, context.suffix
    if len(prefix) > NEAR_CHARS:
        line_end = prefix.find("\n", len(prefix) - NEAR_CHARS)
        prefix = prefix[line_end + 1 :] if line_end >= 0 else prefix[-NEAR_CHARS:]
    if len(suffix) > NEAR_CHARS:
        line_end = suffix.rfind("\n", 0, NEAR_CHARS)
        suffix = suffix[: line_end + 1] if line_end >= 0 else suffix[:NEAR_CHARS]
    return replace(context, prefix=prefix, suffix=suffix)


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleRequest:
    """A hole to fill. None leaves a limit to the hole."""

    context: Context
    language: Language
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    num_texts: int = 1
    seed: int = 0
    writing_ms: int | None = None  # after so long, what is written of a block is enough


def stops_of(stop: str | list[str] | None) -> tuple[str, ...]:
    """Return the stop texts of a request, without empty ones."""
    stops = [stop] if isinstance(stop, str) else stop or []
    return tuple(text for text in stops if text)
