"""Read a user's own repository: files to train on, and held-out files to measure the effect on.

Tests are included, because the user writes them too. Licences are ignored, because nothing leaves
the machine. Knows no holes.
"""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath

from intarsia.infill.languages import Language, language_for_path
from intarsia.infill.syntax.lines import BYTE_ORDER_MARK, with_plain_newlines
from intarsia_research.corpus.candidates import NOT_TAUGHT
from intarsia_research.corpus.corpus_file import CorpusFile
from intarsia_research.corpus.filters import (
    reason_in_path,
    reason_in_size,
    reason_in_syntax,
    reason_in_text,
)
from intarsia_research.corpus.source_files import walk_source_files
from intarsia_research.errors import CorpusFault

MIN_FILES = 10
MIN_BYTES = 20_000
MAX_FILES = 2_000
"""The number of files drawn from a larger repository: more than an hour of training reaches."""

HELD_OUT_SHARE = 0.15
MIN_HELD_OUT = 2

_ECOSYSTEM = "repository"


@dataclass(frozen=True, kw_only=True, slots=True)
class RepositoryFiles:
    """Files to train on, and held-out files. No text is in both."""

    training: tuple[CorpusFile, ...]
    held_out: tuple[CorpusFile, ...]

    @property
    def num_bytes(self) -> int:
        return sum(file.num_bytes for file in (*self.training, *self.held_out))


def read_repository(
    root: Path, *, seed: int, is_excluded: Callable[[PurePath], bool]
) -> RepositoryFiles:
    """Read and split a repository's source files. Raises CorpusFault if there are too few.

    The side of a file depends on the seed, its path, and the number of files. ``is_excluded`` gets
    the absolute path of a file and says whether it must not be read.
    """
    if not root.is_dir():
        raise CorpusFault(f"{root} is not a folder: name the one with the code")
    root = root.resolve()
    paths = sorted(path.relative_to(root).as_posix() for path in walk_source_files(root))
    files: list[CorpusFile] = []
    digests: set[str] = set()
    left_out: Counter[str] = Counter()
    for path in sorted(paths, key=lambda path: _draw_key(path, seed)):
        if len(files) == MAX_FILES:
            break
        file = "excluded" if is_excluded(root / path) else _read(root, path)
        if isinstance(file, CorpusFile) and file.sha256 in digests:
            file = "duplicate"
        if isinstance(file, str):
            left_out[file] += 1
            continue
        digests.add(file.sha256)
        files.append(file)
    _require_enough(files, root, left_out)
    num_held_out = max(MIN_HELD_OUT, round(HELD_OUT_SHARE * len(files)))
    return RepositoryFiles(
        training=tuple(files[num_held_out:]), held_out=tuple(files[:num_held_out])
    )


def _draw_key(path: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{path}".encode("utf-8", "surrogateescape")).digest()


def _read(root: Path, path: str) -> CorpusFile | str:
    """Return a file, or the reason why it is left out."""
    language = language_for_path(path)
    if language.id in NOT_TAUGHT:
        return "no code"
    try:
        reason = reason_in_path(path) or reason_in_size((root / path).stat().st_size)
        data = b"" if reason else (root / path).read_bytes()
    except OSError:
        return "not readable"
    return reason or _decode(data, path, language, root.name)


def _decode(data: bytes, path: str, language: Language, name: str) -> CorpusFile | str:
    try:
        text = with_plain_newlines(data.decode("utf-8").removeprefix(BYTE_ORDER_MARK))
    except UnicodeDecodeError:
        return "not UTF-8"
    if "\0" in text:
        return "not UTF-8"
    if reason := reason_in_text(text, permitted=None) or reason_in_syntax(text, language):
        return reason
    return CorpusFile(
        ecosystem=_ECOSYSTEM,
        package=name,
        version="",
        licence="",
        language=language.id,
        path=path,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
    )


def _require_enough(files: list[CorpusFile], root: Path, left_out: Counter[str]) -> None:
    num_bytes = sum(file.num_bytes for file in files)
    if len(files) >= MIN_FILES and num_bytes >= MIN_BYTES:
        return
    why = ", ".join(f"{num} {reason}" for reason, num in left_out.most_common())
    raise CorpusFault(
        f"{root} has {len(files)} usable source files ({num_bytes / 1000:.0f} kB"
        f"{f'; left out: {why}' if why else ''}); at least {MIN_FILES} with "
        f"{MIN_BYTES // 1000} kB are needed: name a folder with more code"
    )
