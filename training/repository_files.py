"""Reads a user's own repository: files to train on, and held-out files to measure the effect on.

The files are those that an opened folder's index may read. Tests are included, because the user
writes them too; licences are ignored, because nothing leaves the machine. Knows no holes.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from intarsia.infill.languages import PLAIN_TEXT, Language, language_for_path
from intarsia.infill.syntax.lines import with_plain_newlines
from intarsia.infill.syntax.nodes import num_errors
from intarsia.infill.syntax.parse import parse
from intarsia.workspace.files.file_rules import FileRules
from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.files.secret_text import holds_key, holds_secret
from intarsia.workspace.files.seen import Seen
from intarsia.workspace.files.source_text import NotRead, read_source, why_not_source
from intarsia.workspace.files.walk import Walk

MIN_FILES = 10
MIN_BYTES = 20_000
MAX_FILES = 2_000
"""The number of files drawn from a larger repository: more than an hour of training reaches."""

FILE_BYTES = range(200, 100_001)
HELD_OUT_SHARE = 0.15
MIN_HELD_OUT = 2

NOT_TAUGHT = frozenset({"json", "markdown", "toml", "yaml", PLAIN_TEXT.id})
"""Languages that are no code."""

_OF_OTHERS = frozenset({"extern", "external", "third-party", "third_party", "vendor", "vendored"})


class RepositoryFault(Exception):
    """A repository cannot be trained on. The message is one line: what, and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RepositoryOptions:
    """What to train on, from which model, and for how long: minutes, tokens or both limits."""

    root: Path
    model: str
    minutes: float | None
    tokens: int | None
    rank: int
    rate: float
    holes_per_pass: int
    holes_per_file: int
    seed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceFile:
    """``path`` is relative to the root, ``text`` has LF line ends, ``language`` is an LSP id."""

    package_name: str  # the root's name
    path: str
    language: str
    sha256: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RepositoryFiles:
    """Files to train on, and held-out files. No text is in both."""

    training: tuple[SourceFile, ...]
    held_out: tuple[SourceFile, ...]


def read_repository(root: Path, *, seed: int, exclude: Sequence[str] = ()) -> RepositoryFiles:
    """Read and split a repository's source files. Raises RepositoryFault if there are too few.

    The side of a file depends on the seed, its path, and the number of files. ``exclude`` are
    patterns as in the language server's settings.
    """
    if not root.is_dir():
        raise RepositoryFault(f"{root} is not a folder: name the one with the code")
    root = root.resolve()
    found = {file.path[len(root.as_posix()) :].strip("/"): file for file in _walk(root, exclude)}
    files: list[SourceFile] = []
    digests: set[str] = set()
    left_out: Counter[str] = Counter()
    for path in sorted(found, key=lambda path: _draw_key(path, seed)):
        if len(files) == MAX_FILES:
            break
        file = _read(root, path, found[path])
        if isinstance(file, SourceFile) and file.sha256 in digests:
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


def _walk(root: Path, exclude: Sequence[str]) -> Iterator[Seen]:
    settings = RootSettings(path=root.as_posix(), exclude=tuple(exclude))
    walk = Walk(FileRules(settings, lambda name: language_for_path(name).id not in NOT_TAUGHT))
    while not walk.is_done:
        yield from walk.step()


def _draw_key(path: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{path}".encode("utf-8", "surrogateescape")).digest()


def _read(root: Path, path: str, found: Seen) -> SourceFile | str:
    """Return a file, or the reason why it is left out."""
    if not _OF_OTHERS.isdisjoint(PurePosixPath(path).parts[:-1]):
        return "of others"
    if found.num_bytes not in FILE_BYTES:
        return "too small" if found.num_bytes < FILE_BYTES.start else "too large"
    source = read_source(found.path)
    if isinstance(source, NotRead):
        return source.reason
    text, language = with_plain_newlines(source.text), language_for_path(path)
    if reason := why_not_source(text):
        return reason
    if is_data(text):
        return "data"
    if contains_secret(text) or holds_secret(text, language.id):
        return "secret"
    if has_parse_errors(text, language):
        return "parse errors"
    return SourceFile(
        package_name=root.name,
        path=path,
        language=language.id,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
    )


def _require_enough(files: Sequence[SourceFile], root: Path, left_out: Counter[str]) -> None:
    num_bytes = sum(len(file.text.encode()) for file in files)
    if len(files) >= MIN_FILES and num_bytes >= MIN_BYTES:
        return
    why = ", ".join(f"{num} {reason}" for reason, num in left_out.most_common())
    raise RepositoryFault(
        f"{root} has {len(files)} usable source files ({num_bytes / 1000:.0f} kB"
        f"{f'; left out: {why}' if why else ''}); at least {MIN_FILES} with "
        f"{MIN_BYTES // 1000} kB are needed: name a folder with more code"
    )


MAX_ADDRESSES = 5
MAX_DATA_SHARE = 0.3
MAX_ERRORS = 3
LINES_PER_ERROR = 100
LINES_PER_ERROR_WITH_MACROS = 25

_DATA = re.compile(r"0x[0-9a-fA-F]+|\d[\d.eE+-]*|\\[xu][0-9a-fA-F]+")

_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,12}\b")
_NO_ADDRESS = re.compile(r"@(?:[\w-]+\.)*(?:example|test|localhost|invalid)\b", re.IGNORECASE)


def contains_secret(text: str) -> bool:
    """Whether a text has a private key, an access token or over MAX_ADDRESSES e-mail addresses."""
    if holds_key(text):
        return True
    if text.count("@") <= MAX_ADDRESSES:
        return False
    addresses = {address for address in _ADDRESS.findall(text) if not _NO_ADDRESS.search(address)}
    return len(addresses) > MAX_ADDRESSES


def is_data(text: str) -> bool:
    """Whether numbers and escaped bytes are too large a share of the text without whitespace."""
    num_chars = sum(map(len, text.split()))
    return sum(map(len, _DATA.findall(text))) > MAX_DATA_SHARE * num_chars


def has_parse_errors(text: str, language: Language) -> bool:
    """Whether a language's parser cannot read the text well enough."""
    if language.grammar is None:
        return False
    syntax = parse(text, language)
    if syntax is None:
        return True
    lines_per_error = LINES_PER_ERROR_WITH_MACROS if language.has_macros else LINES_PER_ERROR
    max_errors = max(MAX_ERRORS if language.has_macros else 1, text.count("\n") // lines_per_error)
    return num_errors(syntax) > max_errors
