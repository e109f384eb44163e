"""Add a remote to the user's settings file, or remove one: its other lines stay as they are."""

import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from intarsia.engine.errors import ModelError
from intarsia.engine.remote.settings.remotes import NAME, Remote, parse_remotes, read_private_file

Value = str | bool | float


def remote_of(name: str, values: Mapping[str, Value], path: Path) -> Remote:
    """Return the remote that these settings make, checked as in the file. Raises ModelError."""
    return parse_remotes(_table(name, values), path)[name]


def add_remote(name: str, values: Mapping[str, Value], path: Path) -> None:
    """Write a remote at the end of the file, which is made if missing. Raises ModelError."""
    before = _text(path)
    if name in parse_remotes(before, path):
        raise ModelError(f"{path} has a remote {name!r}: remove it first, or choose another name")
    gap = "\n" if before else ""
    after = before + ("" if before.endswith("\n") or not before else "\n") + gap
    after += _table(name, values)
    parse_remotes(after, path)
    _write(path, after)


def remove_remote(name: str, path: Path) -> None:
    """Remove a remote's table from the file. Raises ModelError."""
    before = _text(path)
    remotes = parse_remotes(before, path)
    if name not in remotes:
        raise ModelError(f"no remote {name!r} in {path} (there: {', '.join(remotes) or 'none'})")
    after = _without_table(before, name)
    if parse_remotes(after, path) != {n: r for n, r in remotes.items() if n != name}:
        raise ModelError(f"[{name}] cannot be told apart in {path}: remove its lines yourself")
    _write(path, after)


def _table(name: str, values: Mapping[str, Value]) -> str:
    if not NAME.fullmatch(name):
        raise ModelError(f"{name!r}: a name has letters, digits, - and _, 64 at most: rename it")
    # A JSON text is a TOML text too, as long as it keeps to ASCII escapes.
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join([f"[{name}]", *lines]) + "\n"


def _without_table(text: str, name: str) -> str:
    kept, is_removed = [], False
    for line in text.splitlines(keepends=True):
        if header := re.match(r"\s*\[\s*([\w-]+)\s*\]\s*(?:#.*)?$", line):
            is_removed = header[1] == name
        if not is_removed:
            kept.append(line)
    return "".join(kept).rstrip("\n") + "\n" if kept else ""


def _text(path: Path) -> str:
    try:
        return read_private_file(path, is_secret=False)
    except FileNotFoundError:
        return ""


def _write(path: Path, text: str) -> None:
    """Replace the file at once, with mode 0600; a link keeps pointing to it."""
    target = path.resolve()
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=target.parent, prefix=".remotes-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(draft).replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(f"{path} cannot be written ({reason}): make its folder yours") from error
