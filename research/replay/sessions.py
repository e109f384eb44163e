"""Draws what is typed: parts of real files of held-out packages, in the states of an editor."""

import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.sets.project_packages import (
    PackageSource,
    ProjectPackage,
    package_folder,
)
from intarsia_research.replay.harm import num_unpaired

TABLE = Path(__file__).with_name("sources.toml")

Way = Literal[
    "lines",  # some lines are written anew
    "before",  # a line is wanted in front of an existing one, at its beginning
    "middle",  # the middle of a line is written anew
    "rename",  # a name is replaced by another one
]

_MIN_LINES, _MAX_LINES = 15, 400
_LINES_WRITTEN = 3
_COLUMNS = re.compile(r"(?<=\S)[ \t]{2,}")
"""Blanks that a formatter wrote: nobody types them."""
_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w{3,}\b")


class _Package(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    ecosystem: str
    version: str
    sha256: str
    files: dict[str, str]  # a suffix for each language id


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    package: tuple[_Package, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """A text to type between ``before`` and ``after``; ``asks_only``: nothing of it is typed."""

    name: str
    language: str
    suffix: str
    way: Way
    before: str
    goal: str
    after: str

    @property
    def asks_only(self) -> bool:
        return self.way == "before"


def draw_sessions(source: PackageSource, *, seed: int, num_files: int) -> list[Session]:
    """Return the sessions of ``num_files`` files of each language. Raises EvaluationFault."""
    table = msgspec.convert(tomllib.loads(TABLE.read_text("utf-8")), type=_Table)
    sessions: list[Session] = []
    for package in table.package:
        folder = package_folder(_as_project_package(package), source)
        for language, suffix in package.files.items():
            order = random.Random(f"{seed}:{package.name}:{language}")
            sessions += _of_language(folder, language, suffix, order, num_files)
    return sessions


def _as_project_package(package: _Package) -> ProjectPackage:
    return ProjectPackage(
        name=package.name,
        ecosystem=package.ecosystem,
        version=package.version,
        sha256=package.sha256,
        language="",
        licence="",
        first_released="",
    )


def _of_language(
    folder: Path, language: str, suffix: str, order: random.Random, num_files: int
) -> list[Session]:
    found = (path for path in folder.rglob(f"*{suffix}") if path.is_file())
    files = sorted(path for path in found if "generated" not in path.parts)
    order.shuffle(files)
    sessions: list[Session] = []
    for file in files:
        text = file.read_text(encoding="utf-8").replace("\r\n", "\n")
        if _MIN_LINES <= text.count("\n") <= _MAX_LINES and max(map(len, text.split("\n"))) < 200:
            name = f"{language}:{file.relative_to(folder).as_posix()}"
            sessions += _of_file(text, name, language, suffix, order)
            num_files -= 1
        if not num_files:
            return sessions
    if not sessions:
        raise EvaluationFault(f"the set `typing` has no file {suffix} in {folder}")
    return sessions


def _of_file(
    text: str, name: str, language: str, suffix: str, order: random.Random
) -> Iterator[Session]:
    """Yield a session of each way, as far as the text has a place for it."""
    lines = text.split("\n")
    full = [index for index in range(3, len(lines) - 3) if len(lines[index].strip()) >= 12]
    if not full:
        return
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)

    def session(way: Way, start: int, end: int, *, goal: str | None = None) -> Session:
        written = _COLUMNS.sub(" ", text[start:end]) if goal is None else goal
        return Session(
            name=f"{name}:{way}",
            language=language,
            suffix=suffix,
            way=way,
            before=text[:start],
            goal=written,
            after=text[end:],
        )

    for first in order.sample(full, len(full)):
        last = min(first + _LINES_WRITTEN, len(lines) - 2)
        start, end = offsets[first] + _indent(lines[first]), offsets[last] - 1
        if num_unpaired(text[start:end]) == 0:
            yield session("lines", start, end)
            break
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
        if num_unpaired(text[start:end]) == 0:
            yield session("middle", start, end)
            break
    names = [it for it in _IDENTIFIER.finditer(text) if text.count(it.group()) >= 2]
    if names:
        chosen = order.choice(names)
        new = chosen.group()[:2] + "new" + chosen.group()[-2:]
        yield session("rename", chosen.start(), chosen.end(), goal=new)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
