"""The ignore files that the user names for all repositories, as git finds them.

Only the user's and the machine's settings of git are read, never a repository's own: a folder must
not name files. Git is not run for it.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

MAX_BYTES = 256 * 1024
_MAX_INCLUDES = 50
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]')
_ENTRY = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")
_VALUE = re.compile(r'"((?:[^"\\]|\\.)*)"|\\(.)|([^"\\#;]+)')
_ESCAPED = re.compile(r"\\(.)")


def user_ignore_files() -> list[str]:
    """Return the paths of the user's own ignore files; they may not exist.

    What git includes on conditions counts always: it leaves out more files, not fewer.
    """
    named = [value for path in _config_files() for value in _ignore_files_in(path, [])]
    always = [path for path, has_condition in named if not has_condition][-1:]
    return [*(always or [str(_xdg_folder() / "ignore")]), *(p for p, is_some in named if is_some)]


def _config_files() -> Iterator[Path]:
    if not os.environ.get("GIT_CONFIG_NOSYSTEM"):
        yield Path(os.environ.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig"))
    if only := os.environ.get("GIT_CONFIG_GLOBAL"):
        yield Path(only)
    else:
        yield _xdg_folder() / "config"
        yield Path("~/.gitconfig").expanduser()


def _xdg_folder() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "git"


def _ignore_files_in(config: Path, read: list[Path]) -> Iterator[tuple[str, bool]]:
    """Yield the values of core.excludesFile, each with whether it holds on a condition only."""
    if config in read or len(read) == _MAX_INCLUDES:
        return
    read.append(config)
    section = ""
    for line in _text(config).replace("\\\n", "").splitlines():
        if found := _SECTION.match(line):
            section = found[1].casefold()
        if (entry := _ENTRY.match(line, found.end() if found else 0)) is None:
            continue
        match section, entry[1].casefold():
            case "core", "excludesfile":
                yield str(_path(entry[2], config)), False
            case (("include" | "includeif"), "path"):
                for path, has_condition in _ignore_files_in(_path(entry[2], config), read):
                    yield path, has_condition or section == "includeif"


def _path(value: str, config: Path) -> Path:
    """Return the path that a value names: in the user's home, or beside the settings."""
    parts = (_ESCAPED.sub(r"\1", q) if q else e or p for q, e, p in _pieces(value.rstrip()))
    try:
        return config.parent / Path("".join(parts).strip()).expanduser()
    except RuntimeError:  # the home of a user whom there is not
        return config.parent


def _pieces(value: str) -> Iterator[tuple[str, str, str]]:
    at = 0
    while (found := _VALUE.match(value, at)) is not None:  # up to a comment
        yield found[1] or "", found[2] or "", found[3] or ""
        at = found.end()


def _text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return ""
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return ""
