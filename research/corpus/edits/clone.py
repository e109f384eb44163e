"""Reads a local clone of a git repository: its name, its licence, its log and its files.

Nothing is checked out, so neither hooks nor filters run.
"""

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from intarsia_research.corpus.licence import licence_of_text
from intarsia_research.errors import CorpusFault

_LICENCE_NAME = re.compile(r"(?:un)?licen[cs]e(?:[.-].*)?|copying(?:[.-].*)?", re.IGNORECASE)
_REMOTE = re.compile(r"[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?/?$")
_OF_TEXT = re.compile(rb"[0-9a-f]+ blob (\d+)\n")  # else it is missing, or a submodule


class Clone:
    """A repository with its history, with or without a work tree. Close it after use.

    Raises CorpusFault if it is none, or git is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: subprocess.Popen[bytes] | None = None
        self._run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    def name(self) -> str:
        """Return ``owner/name``: of the remote, else of the folder ``owner+name``, else its own."""
        remote = self._run("config", "--get", "--default", "", "remote.origin.url")
        found = _REMOTE.search(remote.strip())
        if found is not None:
            return f"{found[1]}/{found[2]}"
        named = [part for part in self.folder.resolve().parts if "+" in part]
        return (named[-1] if named else self.folder.resolve().name).replace("+", "/", 1)

    def licence(self) -> str | None:
        """Return what its licence files permit; None if there is none, or one is not permitted."""
        names = self._run("ls-tree", "--name-only", "-z", "HEAD").split("\0")
        files = [name for name in names if _LICENCE_NAME.fullmatch(name)]
        licences = [licence_of_text(self.text("HEAD", name) or "") for name in files]
        known = sorted({licence for licence in licences if licence is not None})
        return " AND ".join(known) if known and None not in licences else None

    def log(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the lines of ``git log``, read as they come. Bytes that are no text are U+FFFD."""
        with subprocess.Popen(
            [*self._git(), "log", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as running:
            assert running.stdout is not None
            try:
                for line in running.stdout:
                    yield line.decode("utf-8", "replace")
            finally:
                running.kill()
        # Ended early by the reader: killed, and no fault of the repository.
        if running.returncode > 0:
            raise CorpusFault(f"git cannot read the history of {self.folder}: run `git fsck` there")

    def text(self, commit: str, path: str) -> str | None:
        """Return a file of a commit; None if it has none of this path, or it is no UTF-8 text."""
        if "\n" in path:
            return None
        running = self._running_files()
        assert running.stdin is not None and running.stdout is not None
        try:
            running.stdin.write(f"{commit}:{path}\n".encode())
            running.stdin.flush()
            found = _OF_TEXT.fullmatch(running.stdout.readline())
            data = running.stdout.read(int(found[1]) + 1) if found else None
        except (OSError, ValueError) as error:
            raise CorpusFault(f"git cannot read files of {self.folder} ({error})") from error
        try:
            return None if data is None or b"\0" in data else data[:-1].decode("utf-8")
        except UnicodeDecodeError:
            return None

    def close(self) -> None:
        """End the process that reads files."""
        if self._files is not None:
            with self._files as running:
                running.kill()
            self._files = None

    def _running_files(self) -> "subprocess.Popen[bytes]":
        if self._files is None:
            self._files = subprocess.Popen(
                [*self._git(), "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._files

    def _run(self, *words: str) -> str:
        try:
            done = subprocess.run([*self._git(), *words], capture_output=True, check=True)
        except FileNotFoundError:
            raise CorpusFault("git is missing: install it to read commits") from None
        except subprocess.CalledProcessError:
            raise CorpusFault(
                f"{self.folder} is no git repository with commits: give a clone with its history"
            ) from None
        return done.stdout.decode("utf-8", "replace")

    def _git(self) -> list[str]:
        return ["git", "--no-pager", "-c", "core.fsmonitor=false", "-C", str(self.folder)]
