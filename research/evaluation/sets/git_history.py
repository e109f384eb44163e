"""Reads a repository's newest commits and their files.

Nothing is checked out, so neither hooks nor filters run. A commit's files are written to a folder
of their own, once.
"""

import io
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from intarsia.infill.languages import PLAIN_TEXT, language_for_path
from intarsia_research.errors import EvaluationFault

MAX_FILE_BYTES = 400_000
_IGNORE_FILES = (".gitignore", ".intarsiaignore")
_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_CHANGED_FILE = re.compile(r"(?<=[\0\n]):100\d{3} 100\d{3} [0-9a-f]+ [0-9a-f]+ M\0([^\0]+)(?=\0)")
_OF_TEXT = re.compile(rb"[0-9a-f]+ blob (\d+)\n")  # else it is missing, or a submodule


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """A commit with one parent. ``changed``: the files that both have, with different texts.

    Links and submodules are no files.
    """

    id: str
    parent: str
    changed: Sequence[str]  # paths from the root, with slashes, sorted


class GitHistory:
    """A local repository, with or without a work tree."""

    def __init__(self, repository: Path) -> None:
        self.repository = repository

    def newest_commits(self, num_commits: int, until: str) -> Iterator[Commit]:
        """Yield the newest commits down from ``until``, a revision; merges are left out.

        Raise EvaluationFault if this is no repository, or git is missing.
        """
        rows = self._run(
            "log",
            "--no-merges",
            "--no-renames",
            "--diff-filter=M",
            "--raw",
            "--no-relative",
            "--no-show-signature",
            "-z",
            "--format=%x01%H %P%x02",
            f"--max-count={num_commits}",
            "--end-of-options",
            until,
            "--",
        ).decode("utf-8", "replace")
        for row in rows.split("\x01")[1:]:
            heads, _, changes = row.partition("\x02")
            ids = heads.split()
            if len(ids) == 2 and all(map(_COMMIT.fullmatch, ids)):
                yield Commit(
                    id=ids[0], parent=ids[1], changed=sorted(_CHANGED_FILE.findall(changes))
                )

    def texts(self, commit: str, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the texts of files at a commit; a file that is large or no text is left out."""
        known = [path for path in paths if "\n" not in path]
        names = "".join(f"{commit}:{path}\n" for path in known).encode()
        stream = io.BytesIO(self._run("cat-file", "--batch", given=names))
        texts = {}
        for path in known:
            found = _OF_TEXT.fullmatch(stream.readline())
            if found is None:
                continue
            data = stream.read(int(found[1]))
            stream.read(1)
            text = _decoded(data)
            if text is not None:
                texts[path] = text
        return texts

    def write_sources(self, commit: str, folder: Path) -> None:
        """Write a commit's source files and ignore files to ``folder``, if it is not there yet.

        Raise EvaluationFault if the disk refuses.
        """
        if folder.is_dir():
            return
        paths = [path for path in self._paths(commit) if _is_wanted(path)]
        try:
            _write(self.texts(commit, paths), folder)
        except OSError as error:
            raise EvaluationFault(
                f"commit {commit} cannot be written to {folder.parent} ({error}): make room there, "
                "or set INTARSIA_CACHE_DIR to another folder"
            ) from error

    def _paths(self, commit: str) -> Iterator[str]:
        """Yield the paths of a commit's plain files: no links, no submodules."""
        for row in self._run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            kind, _, path = row.decode("utf-8", "replace").partition("\t")
            if kind.startswith("100") and "�" not in path:
                yield path

    def _run(self, *words: str, given: bytes = b"") -> bytes:
        command = ["git", "--no-pager", "-c", "core.fsmonitor=false", "-C", str(self.repository)]
        try:
            done = subprocess.run([*command, *words], input=given, capture_output=True, check=True)
        except FileNotFoundError:
            raise EvaluationFault("git is missing: install it to read commits") from None
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = said[-1] if said else f"git ends with {error.returncode}"
            raise EvaluationFault(f"{self.repository} has no such commits: {reason}") from None
        return done.stdout


def _write(texts: Mapping[str, str], folder: Path) -> None:
    """Write a folder that has all files, or none. Another run may write the same one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        files = Path(unfinished, "files")
        files.mkdir()
        for path, text in texts.items():
            file = files / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        try:
            files.rename(folder)  # a move would go inside of a folder that is there by now
        except OSError:
            if not folder.is_dir():
                raise


def _decoded(data: bytes) -> str | None:
    """Return the text of a file; None if it is large or no text."""
    if len(data) > MAX_FILE_BYTES or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _is_wanted(path: str) -> bool:
    """Whether it is source code or an ignore file, at a path that stays inside a folder."""
    place = PurePosixPath(path)
    if place.is_absolute() or ".." in place.parts or "\\" in path:
        return False
    return place.name in _IGNORE_FILES or language_for_path(place.name) != PLAIN_TEXT
