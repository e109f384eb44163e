"""Tells by its path whether a file that a client sends is a secret, which the model never reads."""

from pathlib import Path, PureWindowsPath

from intarsia.workspace.files.exclusion import (
    SECRETS,
    excluding_pattern,
    excluding_pattern_on_disk,
)


def is_secret(path: str) -> bool:
    """Return whether a path names a secret, or a full path links to one here.

    A relative path is judged by its name: the folder that it starts from is unknown.
    """
    plain = path.removeprefix("file://")
    if excluding_pattern(PureWindowsPath(plain), SECRETS) is not None:  # reads both slashes
        return True
    full = Path(plain)
    return full.is_absolute() and excluding_pattern_on_disk(full, SECRETS) is not None
