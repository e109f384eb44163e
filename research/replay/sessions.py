"""Draws what is typed: parts of real files of held-out packages, in the states of an editor."""

import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from intarsia_research.corpus.filters import reason_in_path, reason_in_text
from intarsia_research.corpus.licence import permitted
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.sets.project_packages import (
    PackageSource,
    ProjectPackage,
    package_folder,
)
from intarsia_research.replay.harm import num_unpaired

TABLE = Path(__file__).with_name("sources.toml")

Half = Literal["development", "held-out"]
"""No repository is in both. What is tuned may only ever be judged on the first one."""

Way = Literal[
    "lines",  # some lines are written anew
    "before",  # a line is wanted in front of an existing one, at its beginning
    "middle",  # the middle of a line is written anew
    "rename",  # a name is replaced by another one
]

_MIN_LINES, _MAX_LINES = 15, 400
_MIN_KEYS, _MAX_KEYS = 80, 120
"""How many keys the retyped lines of a file take, so that each file counts about the same."""
_MIN_MIDDLE_CHARS, _MAX_MIDDLE_CHARS = 8, 40
_MIN_LINE_CHARS, _MAX_LINE_CHARS = 12, 120
_MAX_DIGITS, _MIN_LETTERS, _MAX_WORD = 0.2, 0.5, 40
"""Of a line of code: shares of its characters without blanks, and its longest run of word
characters. A table of numbers and an encoded text are none."""
_COLUMNS = re.compile(r"(?<=\S)[ \t]{2,}")
"""Blanks that a formatter wrote: nobody types them."""
_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w{3,}\b")
_NOTICE = re.compile(r"copyright|licen[cs]e|spdx|all rights reserved", re.IGNORECASE)
_HEAD_COMMENT = re.compile(
    r"\s*(?:/\*.*?\*/|<!--.*?-->|\{#.*?#\}|(?:#(?!include)|//|--)[^\n]*(?:\n|$))", re.DOTALL
)
_TEMPLATE = re.compile(r"\{[{%]")
_PICTURE = re.compile(r"<svg\b")


class _Package(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    ecosystem: str
    version: str
    sha256: str
    licence: str
    half: Half
    files: dict[str, str]  # a suffix for each language id


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    package: tuple[_Package, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """A text to type between ``before`` and ``after``; ``asks_only``: nothing of it is typed."""

    root: Path  # of its package
    path: str  # in it
    language: str
    way: Way
    before: str
    goal: str
    after: str

    @property
    def file(self) -> str:
        return f"{self.language}:{self.root.name}/{self.path}"

    @property
    def name(self) -> str:
        return f"{self.file}:{self.way}"

    @property
    def asks_only(self) -> bool:
        return self.way == "before"


def draw_sessions(
    source: PackageSource, half: Half, *, seed: int, num_files: int, table: Path = TABLE
) -> list[Session]:
    """Return the sessions of ``num_files`` files of each language of each package of this half.

    Raise EvaluationFault if a package cannot be downloaded, or has no file to type.
    """
    packages = msgspec.convert(tomllib.loads(table.read_text("utf-8")), type=_Table).package
    sessions: list[Session] = []
    for package in packages:
        if package.half != half:
            continue
        folder = package_folder(_as_project_package(package), source)
        for language, suffix in package.files.items():
            order = random.Random(f"{seed}:{package.name}:{language}")
            sessions += sessions_of(folder, language, suffix, order, num_files)
    return sessions


def _as_project_package(package: _Package) -> ProjectPackage:
    return ProjectPackage(
        name=package.name,
        ecosystem=package.ecosystem,
        version=package.version,
        sha256=package.sha256,
        language="",
        licence=package.licence,
        first_released="",
    )


def sessions_of(
    folder: Path, language: str, suffix: str, order: random.Random, num_files: int
) -> list[Session]:
    """Return the sessions of some files of a package. Raise EvaluationFault if it has none."""
    files = sorted(path for path in folder.rglob(f"*{suffix}") if path.is_file())
    order.shuffle(files)
    sessions: list[Session] = []
    for file in files:
        path = file.relative_to(folder).as_posix()
        text = file.read_text(encoding="utf-8").replace("\r\n", "\n")
        if _is_written_by_hand(path, text, language):
            drawn = list(_of_file(text, folder, path, language, order))
            num_files -= bool(drawn)
            sessions += drawn
        if not num_files:
            return sessions
    if not sessions:
        raise EvaluationFault(f"the set `typing` has no file {suffix} in {folder}")
    return sessions


def _is_written_by_hand(path: str, text: str, language: str) -> bool:
    """Whether a person wrote this file, in its language, and what it holds is code."""
    return (
        "generated" not in path.split("/")
        and (reason_in_path(path) or reason_in_text(text, permitted=permitted)) is None
        and _PICTURE.search(text) is None
        and (language != "jinja" or _TEMPLATE.search(text) is not None)
        and _MIN_LINES <= text.count("\n") <= _MAX_LINES
    )


def _of_file(
    text: str, root: Path, path: str, language: str, order: random.Random
) -> Iterator[Session]:
    """Yield a session of each way, as far as the text has a place for it; none without lines."""
    lines = text.split("\n")
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    first_code = _end_of_head(text)
    full = [
        index
        for index in range(3, len(lines) - 3)
        if offsets[index] >= first_code and _is_code(lines[index])
    ]

    def session(way: Way, start: int, end: int, *, goal: str | None = None) -> Session:
        written = _COLUMNS.sub(" ", text[start:end]) if goal is None else goal
        return Session(
            root=root,
            path=path,
            language=language,
            way=way,
            before=text[:start],
            goal=written,
            after=text[end:],
        )

    for first in order.sample(full, len(full)):
        start, end = offsets[first] + _indent(lines[first]), _end_of_lines(lines, offsets, first)
        if end and num_unpaired(text[start:end]) == 0:
            yield session("lines", start, end)
            break
    else:
        return
    index = order.choice(full)
    if lines[index + 1].strip():
        start = offsets[index] + _indent(lines[index])
        end = offsets[index + 1] + _indent(lines[index + 1])
        yield session("before", start, end)
    for index in order.sample(full, len(full)):
        words = list(re.finditer(r"\S+", lines[index]))
        if len(words) < 3:
            continue
        start, end = (offsets[index] + at for at in (words[1].start(), words[-1].start() - 1))
        is_some = _MIN_MIDDLE_CHARS <= end - start <= _MAX_MIDDLE_CHARS
        if is_some and num_unpaired(text[start:end]) == 0:
            yield session("middle", start, end)
            break
    names = [it for it in _IDENTIFIER.finditer(text) if text.count(it.group()) >= 2]
    if names:
        chosen = order.choice(names)
        new = chosen.group()[:2] + "new" + chosen.group()[-2:]
        yield session("rename", chosen.start(), chosen.end(), goal=new)


def _end_of_lines(lines: list[str], offsets: list[int], first: int) -> int | None:
    """Return the end of as few whole lines as take the wanted keys; None if there are none.

    Blanks are keys, indentation and columns are not. All lines must be code, but for those that
    are too short to tell.
    """
    num_keys = 0
    for index in range(first, len(lines) - 3):
        typed = _COLUMNS.sub(" ", lines[index].strip())
        if len(typed) >= _MIN_LINE_CHARS and not _is_code(lines[index]):
            return None
        num_keys += len(typed) + 1
        if num_keys >= _MIN_KEYS and typed:
            return offsets[index + 1] - 1 if num_keys <= _MAX_KEYS else None
    return None


def _is_code(line: str) -> bool:
    chars = "".join(line.split())
    return (
        len(line.strip()) >= _MIN_LINE_CHARS
        and len(line) <= _MAX_LINE_CHARS
        and sum(map(str.isdigit, chars)) <= _MAX_DIGITS * len(chars)
        and sum(map(str.isalpha, chars)) >= _MIN_LETTERS * len(chars)
        and max(map(len, re.findall(r"\w+", line)), default=0) <= _MAX_WORD
        and line.isascii()  # one key does not write an emoji
        and _NOTICE.search(line) is None
    )


def _end_of_head(text: str) -> int:
    """Return where the comments end that a file begins with: they are about its authors."""
    at = 0
    while found := _HEAD_COMMENT.match(text, at):
        at = found.end()
    return at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
