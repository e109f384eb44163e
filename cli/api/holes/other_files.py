"""The other files that a client sends, as the engine reads them: the newest that fit a budget."""

from pathlib import Path, PureWindowsPath

from intarsia.cli.api.holes.request import Context
from intarsia.engine.ipc.messages import ProjectContext
from intarsia.infill.filling.plan import to_project_context
from intarsia.infill.languages import Language, language_for_path
from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern, excluding_pattern_on_disk
from intarsia.workspace.files.secret_text import holds_secret


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
"""Fewer than code has, so that the files stay within their budget."""
SHOWN_PARTS = 3
"""How much of a path the model is shown, from its end."""
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
        if is_secret(file.path) or holds_secret(file.text, language_for_path(file.path).id):
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
