"""Which files of an opened folder may be read: one place that every reader asks.

Paths are absolute, with forward slashes. A secret is never read, whatever any other rule says.
"""

import os
from collections.abc import Callable
from pathlib import PurePath

from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern
from intarsia.workspace.files.ignore_rules import IgnoreRules
from intarsia.workspace.files.paths import (
    RootSettings,
    Seen,
    as_posix,
    has_odd_parts,
    is_within,
    real_path,
)
from intarsia.workspace.files.source_text import is_generated_name

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", "cvs"})
"""Never read, whatever an ignore file says."""

_PACKAGES = (
    "node_modules bower_components jspm_packages site-packages dist-packages venv .venv virtualenv"
    " __pypackages__ .eggs pods carthage elm-stuff .yarn .pnpm-store .pub-cache .bundle .cargo .m2"
    " .dart_tool"
)
_BUILDS = (
    "build dist target out _build cmake-build-debug cmake-build-release zig-out .zig-cache"
    " zig-cache deriveddata .build .output .next .nuxt .svelte-kit .angular .parcel-cache .turbo"
    " bazel-out .stack-work dist-newstyle .docusaurus storybook-static htmlcov obj"
)
_TOOLS = (
    "__pycache__ .mypy_cache .pytest_cache .ruff_cache .hypothesis .tox .nox .ipynb_checkpoints"
    " .cache .gradle .idea .vs .vscode-test .terraform .serverless .metals .bloop .bsp .elixir_ls"
    " .sass-cache .nyc_output .history .trash $recycle.bin lost+found tmp .tmp"
)
_SKIPPED = VERSION_CONTROL | set(f"{_PACKAGES} {_BUILDS} {_TOOLS}".split())
"""Folders that are left out unless an ignore file asks for them."""

MARKERS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""Files that mark the folder around them as a cache or a virtual environment."""


MAX_DEPTH = 40
"""Folders below the root that are entered."""


class FileRules:
    """The rules of one opened folder. Ignore files are read once: make new rules if they change."""

    def __init__(self, settings: RootSettings, is_source: Callable[[str], bool]) -> None:
        """``is_source`` tells by its name whether a file is source code."""
        self.root = as_posix(settings.path)
        self._real_root = real_path(self.root)
        self._patterns = (*settings.exclude, *(SECRETS if settings.exclude_secrets else ()))
        self._excluded_paths = tuple(map(as_posix, settings.excluded_paths))
        self._is_source = is_source
        self._ignore = IgnoreRules(self.root)
        self._marked: dict[str, bool] = {}

    def holds(self, path: str) -> bool:
        """Return whether the path is inside the opened folder, by its name."""
        return is_within(path, self.root)

    def why_not(self, path: str) -> str | None:
        """Return why a file may not be read, None if it may. Reads no file but ignore files."""
        if not self.holds(path) or path == self.root or has_odd_parts(path):
            return "outside the opened folder"
        folders = path[len(self.root) :].strip("/").split("/")[:-1]
        if len(folders) > MAX_DEPTH:
            return "too deep"
        if (reason := self.why_not_named(path)) is not None:
            return reason
        at = self.root.rstrip("/")
        for folder in folders:
            at = f"{at}/{folder}"
            if (reason := self.why_not_folder(at)) is not None:
                return reason
            if self.is_tools_folder(at):
                return "in a tool's folder"
        return self.why_not_linked(path) or self.why_not_ignored(path)

    def why_not_named(self, path: str) -> str | None:
        """Return why a file of this path may not be read, as far as its path alone tells."""
        if (reason := self.why_not_secret(path)) is not None:
            return reason
        name = path.rpartition("/")[2]
        if not self._is_source(name):
            return "not in a known language"
        return "generated" if is_generated_name(name) else None

    def why_not_secret(self, path: str) -> str | None:
        """Return the rule of secrets, or of the user, that keeps a path from being read."""
        if any(is_within(path, excluded) for excluded in self._excluded_paths):
            return "excluded by the settings"
        pattern = excluding_pattern(PurePath(path), self._patterns)
        return None if pattern is None else f"excluded by the pattern {pattern!r}"

    def why_not_folder(self, path: str) -> str | None:
        """Return why a folder is not entered; the caller has checked the folders above it."""
        if (reason := self.why_not_secret(f"{path}/_")) is not None:
            return reason
        name = path.rpartition("/")[2].casefold()
        if name in VERSION_CONTROL:
            return "part of a version control system"
        decision = self._ignore.decision(path, is_folder=True)
        if decision is not None and decision:
            return "ignored by an ignore file"
        if name in _SKIPPED and not self._ignore.is_asked_for(path):
            return "a folder of tools or builds"
        return None

    def is_tools_folder(self, path: str) -> bool:
        """Return whether a file in the folder marks it as a cache or a virtual environment."""
        if (marked := self._marked.get(path)) is None:
            marked = any(os.path.lexists(f"{path}/{name}") for name in MARKERS)
            marked = marked and not self._ignore.is_asked_for(path)
            self._marked[path] = marked
        return marked

    def why_not_ignored(self, path: str) -> str | None:
        """Return why an ignore file leaves out a file of a folder that is entered."""
        ignored = self._ignore.decision(path, is_folder=False)
        return "ignored by an ignore file" if ignored else None

    def ignore_files_for(self, path: str) -> tuple[Seen, ...]:
        """Return the ignore files that judge a file, as they were when they were read."""
        return self._ignore.files_for(path)

    def are_read_from(self, path: str) -> bool:
        """Return whether rules were read from this file, or looked for there."""
        return self._ignore.are_read_from(path)

    def why_not_linked(self, path: str) -> str | None:
        """Return why a file is not read because of links, or because of what a link names.

        A link's target is read under its own name if it is in the folder at all.
        """
        real = real_path(path)
        inside = path[len(self.root) :].strip("/")
        if real != f"{self._real_root.rstrip('/')}/{inside}":
            return "a link"
        return self.why_not_secret(real)
