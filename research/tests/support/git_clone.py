"""A git repository that a test makes, commit by commit."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_NAMES = ("NAME", "EMAIL")


class Clone:
    """A repository in a new folder. The user's settings of git do not matter."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        author = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in _NAMES}
        env = os.environ | author | {"GIT_CONFIG_GLOBAL": os.devnull}
        return subprocess.run(
            ["git", *words], cwd=self.folder, env=env, capture_output=True, text=True, check=True
        ).stdout.strip()

    def commit(self, **texts: str) -> str:
        """Write Python files by the names of their modules, and return the commit."""
        return self.commit_files({f"{name}.py": text for name, text in texts.items()})

    def commit_files(self, texts: Mapping[str, str], subject: str = "change") -> str:
        """Write files by their paths, and return the commit."""
        for path, text in texts.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)
        return self.git("rev-parse", "HEAD")
