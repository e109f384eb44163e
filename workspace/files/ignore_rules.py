"""Rules of .gitignore files in nested folders, and of .intarsiaignore files, which win.

Both have the syntax of gitignore. A rule of a deeper folder beats one of a higher folder, and of
one file's rules the last that matches decides. Nothing inside an ignored folder can be asked for
again, as in git. ``.intarsiaignore`` is asked first: it leaves out more files, or with ``!`` asks
for files and folders that git ignores. As in git, info/exclude of a repository and the user's own
ignore file come last, for each repository around a file.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from intarsia.workspace.files.paths import Seen, is_within, joined, parent_of, real_path

GIT_FILE = ".gitignore"
OWN_FILE = ".intarsiaignore"
IGNORE_FILES = frozenset({GIT_FILE, OWN_FILE})

MAX_IGNORE_BYTES = 256 * 1024
"""A longer file, of thousands of rules, ignores all of its folder, so that no rule is missed."""

_FOLDERS_INSIDE = re.compile(r"/\*\*/\s*\Z")
"""``a/**/`` names all folders inside of ``a``: pathspec would take the files for folders too."""

_MAX_WILDCARDS = 3
"""In one rule: what a match takes grows with the path's length to the power of this."""
_ESCAPED_OR_STARS = re.compile(r"\\.|\*+")

_MAX_LEVELS_UP = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class _Level:
    """The rules of one folder; ``git``: those that count more come first."""

    folder: str
    own: GitIgnoreSpec | None
    git: Sequence[GitIgnoreSpec]
    seen: tuple[Seen, ...]  # the files that they were read from, or looked for in


class IgnoreRules:
    """The ignore rules of one opened folder, each file read once.

    The folder may be inside a git repository: the rules of its outer folders hold too.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._of_user = user_ignore_files()
        self._files: set[str] = set()
        self._levels: dict[str, Sequence[_Level]] = {}
        around = (root, *_ancestors(root))
        repository = next((at for at in around if os.path.lexists(joined(at, ".git"))), None)
        self._outer = [
            self._level(folder)
            for folder in around[1:]
            if repository is not None and is_within(folder, repository)
        ]

    def decision(self, path: str, *, is_folder: bool) -> bool | None:
        """Return True if a rule leaves the path out, False if one asks for it, None without one.

        Judges this name alone: the caller has checked the folders above it.
        """
        levels = self._levels_of(parent_of(path))
        for level in levels:
            if (ignored := _matched(level.own, level.folder, path, is_folder)) is not None:
                return ignored
        for level in levels:
            for spec in level.git:
                if (ignored := _matched(spec, level.folder, path, is_folder)) is not None:
                    return ignored
        return None

    def is_asked_for(self, path: str) -> bool:
        """Return whether a ``!`` rule of an .intarsiaignore asks for this folder."""
        for level in self._levels_of(parent_of(path)):
            ignored = _matched(level.own, level.folder, path, True)
            if ignored is not None:
                return not ignored
        return False

    def files_for(self, path: str) -> tuple[Seen, ...]:
        """Return the ignore files that judge a path, as they were when they were read."""
        return tuple(seen for level in self._levels_of(parent_of(path)) for seen in level.seen)

    def are_read_from(self, path: str) -> bool:
        """Return whether rules were read from this file, or looked for there."""
        return path in self._files

    def _levels_of(self, folder: str) -> Sequence[_Level]:
        """Return the rules of a folder and of those above it, the nearest first."""
        if (levels := self._levels.get(folder)) is None:
            is_top = folder == self._root or len(folder) <= len(self._root)
            above = self._outer if is_top else self._levels_of(parent_of(folder))
            levels = self._levels[folder] = (self._level(folder), *above)
        return levels

    def _level(self, folder: str) -> _Level:
        own, git = joined(folder, OWN_FILE), [joined(folder, GIT_FILE)]
        if os.path.lexists(joined(folder, ".git")):
            git += map(real_path, (_exclude_file(folder), *self._of_user))  # git follows links here
        seen = tuple(map(Seen.now, (own, *git)))  # before they are read
        self._files.update((own, *git))
        specs = [spec for path in git if (spec := _spec(path)) is not None]
        return _Level(folder=folder, own=_spec(own), git=specs, seen=seen)


def _matched(spec: GitIgnoreSpec | None, folder: str, path: str, is_folder: bool) -> bool | None:
    """Return what the last rule that matches the path itself says, None if none does.

    A pattern also matches what is inside of a folder that it names. Then git does not ask: it has
    not entered the folder, or another rule has asked for it.
    """
    if spec is None:
        return None
    inside = path[len(folder) :].lstrip("/") + ("/" if is_folder else "")
    for pattern in reversed(spec.patterns):
        regex = getattr(pattern, "regex", None)
        if pattern.include is not None and regex is not None:
            found = regex.search(inside)
            if found is not None and _is_whole(found, inside, is_folder):
                return bool(pattern.include)
    return None


def _is_whole(found: re.Match[str], inside: str, is_folder: bool) -> bool:
    """Return whether a pattern matched the path itself, by the group for the slash of a folder."""
    if not found.re.groupindex:  # "folder/**" is for all that is inside, but not for the folder
        return not (is_folder and found.group().endswith("/") and found.end() == len(inside))
    if not found.re.pattern.startswith("^"):  # "*/": any folder
        return is_folder
    ends = [found.end(name) for name in found.re.groupindex if found.end(name) >= 0]
    return not ends or (is_folder and ends == [len(inside)])


def _spec(path: str) -> GitIgnoreSpec | None:
    """Return the rules of a file; None if there are none. A rule that is no pattern is left out."""
    lines = [_FOLDERS_INSIDE.sub("/**/*/", _bounded(line)) for line in _lines(path)]
    if not lines:
        return None
    try:
        return GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error):
        return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _bounded(line: str) -> str:
    """Return a rule with few wildcards. One with more is cut, so that it leaves out more files.

    Rules are matched by backtracking: with a dozen wildcards, one path would take hours.
    """
    if line.startswith("#"):
        return line
    line = _ESCAPED_OR_STARS.sub(_one_wildcard, line)
    found = _ESCAPED_OR_STARS.finditer(line)
    wildcards = [match.start() for match in found if match.group().startswith("*")]
    if len(wildcards) <= _MAX_WILDCARDS:
        return line
    if line.startswith("!"):
        return ""
    kept = line[: wildcards[_MAX_WILDCARDS - 1]].partition("[")[0]
    return f"{kept}*"


def _one_wildcard(match: re.Match[str]) -> str:
    """Return asterisks as git reads them: two between slashes, and one anywhere else."""
    asterisks, line = match.group(), match.string
    if not asterisks.startswith("**"):
        return asterisks
    before, after = line[: match.start()].removeprefix("!"), line[match.end() :]
    is_whole = before[-1:] in ("", "/") and (after[:1] in ("", "/") or after.isspace())
    return "**" if is_whole else "*"


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _lines(path: str) -> list[str]:
    """Return the lines of a regular file, none if it cannot be read."""
    file = Path(path)
    try:
        if file.is_symlink() or not file.is_file():
            return []
        if file.stat().st_size > MAX_IGNORE_BYTES:
            return ["*"]
        return file.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except (OSError, ValueError):
        return []


def _ancestors(folder: str) -> Iterator[str]:
    """Yield the folders above this one, nearest first."""
    for _ in range(_MAX_LEVELS_UP):
        parent = parent_of(folder)
        if parent == folder:
            return
        folder = parent
        yield folder


def _exclude_file(repository: str) -> str:
    """Return the path of info/exclude. In a linked work tree, .git is a file: it names a folder."""
    folder = Path(repository, ".git")
    if (lines := _lines(str(folder))) and lines[0].startswith("gitdir:"):
        folder = Path(repository, lines[0].removeprefix("gitdir:").strip())
        if common := _lines(str(folder / "commondir")):
            folder = folder / common[0].strip()
    return str(folder / "info" / "exclude")


_MAX_CONFIG_BYTES = 256 * 1024
_MAX_INCLUDES = 50
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]')
_ENTRY = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")
_VALUE = re.compile(r'"((?:[^"\\]|\\.)*)"|\\(.)|([^"\\#;]+)')
_ESCAPED = re.compile(r"\\(.)")


def user_ignore_files() -> list[str]:
    """Return the paths of the user's own ignore files; they may not exist.

    Only the user's and the machine's settings of git are read, never a repository's own: a folder
    must not name files. Git is not run for it. What git includes on conditions counts always: it
    leaves out more files, not fewer.
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
    for line in _config_text(config).replace("\\\n", "").splitlines():
        if found := _SECTION.match(line):
            section = found[1].casefold()
        if (entry := _ENTRY.match(line, found.end() if found else 0)) is None:
            continue
        match section, entry[1].casefold():
            case "core", "excludesfile":
                yield str(_path_in(entry[2], config)), False
            case (("include" | "includeif"), "path"):
                for path, has_condition in _ignore_files_in(_path_in(entry[2], config), read):
                    yield path, has_condition or section == "includeif"


def _path_in(value: str, config: Path) -> Path:
    """Return the path that a value names: in the user's home, or beside the settings."""
    parts = (_ESCAPED.sub(r"\1", q) if q else e or p for q, e, p in _value_parts(value.rstrip()))
    try:
        return config.parent / Path("".join(parts).strip()).expanduser()
    except RuntimeError:  # the home of a user whom there is not
        return config.parent


def _value_parts(value: str) -> Iterator[tuple[str, str, str]]:
    at = 0
    while (found := _VALUE.match(value, at)) is not None:  # up to a comment
        yield found[1] or "", found[2] or "", found[3] or ""
        at = found.end()


def _config_text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > _MAX_CONFIG_BYTES:
            return ""
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return ""
