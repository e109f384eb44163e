"""A client's request, whatever API it speaks: a hole, code of other files, and limits."""

from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath

from intarsia.engine.ipc.messages import ProjectContext
from intarsia.infill.filling.plan import to_project_context
from intarsia.infill.languages import Language, language_for_path
from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern, excluding_pattern_on_disk
from intarsia.workspace.files.secret_text import holds_secret

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


def is_secret(path: str) -> bool:
    """Return whether a path names a secret, or a full path links to one here.

    A relative path is judged by its name: the folder that it starts from is unknown.
    """
    plain = path.removeprefix("file://")
    if excluding_pattern(PureWindowsPath(plain), SECRETS) is not None:  # reads both slashes
        return True
    full = Path(plain)
    return full.is_absolute() and excluding_pattern_on_disk(full, SECRETS) is not None


CHARS_PER_TOKEN = 3
"""Characters a token: fewer than code has, so that the files stay within their budget."""
SHOWN_PARTS = 3
"""The model is shown this much of a path, from its end."""
_UNNAMED = "untitled"


def to_project(context: Context, language: Language, budget_tokens: int) -> ProjectContext | None:
    """Return what the engine reads before the file with the hole; None without other files.

    Clients append to their list, so its end is the newest. The order is kept: what rarely changes
    comes first, and stays in the KV cache. A file without a name is named after its language.
    Secrets are left out.
    """
    left = budget_tokens * CHARS_PER_TOKEN
    passages: list[tuple[str, str]] = []
    for file in reversed(context.files):
        is_bare = language_for_path(file.path).has_bare_values
        if is_secret(file.path) or holds_secret(file.text, is_bare):
            continue
        text = _within(file.text, left)
        if not text:
            break
        left -= len(text)
        passages.insert(0, (_shown(file.path) or _UNNAMED, text))
    path = _shown(context.path) or _UNNAMED + "".join(language.extensions[:1])
    return to_project_context(passages, context.repository or _UNNAMED, path)


def _within(text: str, num_chars: int) -> str:
    """Return the first whole lines that fit."""
    if len(text) <= num_chars:
        return text
    return text[: text.rfind("\n", 0, num_chars) + 1]


def _shown(path: str) -> str:
    """Return the end of a path, whichever system it is from."""
    pure = PureWindowsPath(path.removeprefix("file://"))
    parts = [part for part in pure.parts if part != pure.anchor]
    return "/".join(parts[-SHOWN_PARTS:])
