"""What a client asks, whatever API it speaks: a hole, code of other files, and limits."""

from dataclasses import dataclass

from intarsia.infill.languages import Language

MAX_TOKENS = 512
MAX_TEXTS = 8


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
