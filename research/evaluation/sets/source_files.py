"""Find source files written by people, below folders or by name.

Each is named by its path from the common folder. Tests, third-party packages, hidden folders and
generated files are left out.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intarsia.infill.languages import Language, language_for_path
from intarsia_research.corpus.source_files import FOLDERS_OF_OTHERS, walk_source_files
from intarsia_research.errors import EvaluationFault

MAX_FILE_BYTES = 200_000
MAX_LINE_CHARS = 1_000
"""Longer lines of code are generated."""

_SKIPPED_FOLDERS = FOLDERS_OF_OTHERS | {"__tests__", "idle_test", "test", "testdata", "tests"}
_WRITTEN_BY_PROGRAM = re.compile(
    r"(?i)@generated\b|\bdo not edit\b|\bauto(?:matically |-?)generated\b"
)
_HEAD_CHARS = 2_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeFile:
    """A source file. ``name``: its path from the common folder, with slashes."""

    path: Path
    name: str
    language: Language


def find_source_files(paths: Sequence[Path]) -> list[CodeFile]:
    """Return the files sorted by name. Raise EvaluationFault if a path does not exist."""
    for path in paths:
        if not path.exists():
            raise EvaluationFault(f"{path} does not exist: check the path")
    roots = {path.resolve() for path in paths}
    if not roots:
        return []
    common = Path(os.path.commonpath([root if root.is_dir() else root.parent for root in roots]))
    found = {
        path
        for root in roots
        for path in (walk_source_files(root, skipped=_SKIPPED_FOLDERS) if root.is_dir() else [root])
    }
    files = (
        CodeFile(
            path=path,
            name=path.relative_to(common).as_posix(),
            language=language_for_path(path.name),
        )
        for path in found
    )
    return sorted(files, key=lambda file: file.name)


def read_source_file(file: CodeFile) -> str | None:
    """Return the text without its byte order mark; None if it was not written by people."""
    try:
        with file.path.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES)
        text = data.removeprefix(_BYTE_ORDER_MARK).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    is_long = len(data) == MAX_FILE_BYTES or max(map(len, text.split("\n"))) > MAX_LINE_CHARS
    if is_long or "\0" in text or _WRITTEN_BY_PROGRAM.search(text, 0, _HEAD_CHARS):
        return None
    return text
