"""A Debian source package → its release: the authors' archive, and the packagers' that tells
the licence of every file.

Comes in: the index of a suite's sources; nothing is fetched but that.
"""

import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from intarsia.research.corpus.debian_fields import read_fields
from intarsia.research.corpus.fetch import NotThere, ReadPage
from intarsia.research.corpus.package_list import PackageRow
from intarsia.research.corpus.release import ArchiveLink, Release

MIRROR = "https://deb.debian.org/debian"
SUITES = ("trixie", "bookworm")
"""The first that has a package (in the version that is asked for) and whose files lie there."""

Index: TypeAlias = dict[str, list["SourcePackage"]]

_ORIGINAL = re.compile(r"\.orig\.tar\.(?:gz|bz2|xz)$")
_PACKAGING = re.compile(r"\.debian\.tar\.(?:gz|bz2|xz)$")
_NATIVE = re.compile(r"^[^_]+_[^_]+\.tar\.(?:gz|bz2|xz)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class SourcePackage:
    """What the index says of a package: file names with their SHA-256."""

    version: str
    folder: str
    files: tuple[tuple[str, str], ...]


def read_index(read: ReadPage, *, names: frozenset[str]) -> Index:
    """Return what the suites' indexes say of these packages, a row for each suite that has one."""
    index: Index = {}
    for suite in SUITES:
        data = lzma.decompress(read(f"{MIRROR}/dists/{suite}/main/source/Sources.xz"))
        for name, found in _packages(data.decode("utf-8").split("\n\n"), names):
            index.setdefault(name, []).append(found)
    return index


def find_releases(row: PackageRow, index: Index) -> list[Release]:
    """Return a release for each suite that fits the row. Raises NotThere where none does."""
    found = index.get(row.name, [])
    fitting = [it for it in found if row.version in (None, it.version)]
    releases = [
        Release(row=row, version=it.version, archive=original, notices=_link(it, _PACKAGING))
        for it in fitting
        if (original := _link(it, _ORIGINAL) or _link(it, _NATIVE)) is not None
    ]
    if not releases:
        versions = ", ".join(it.version for it in found) or "none"
        raise NotThere(f"Debian has no single archive of {row.line()[:80]} (it has {versions})")
    return releases


def _packages(paragraphs: list[str], names: frozenset[str]) -> Iterator[tuple[str, SourcePackage]]:
    for paragraph in paragraphs:
        name = paragraph.partition("\n")[0].removeprefix("Package: ").strip()
        if name in names:
            fields = read_fields(paragraph)
            rows = (line.split() for line in fields["checksums-sha256"].splitlines())
            yield (
                name,
                SourcePackage(
                    version=fields["version"],
                    folder=fields["directory"],
                    files=tuple((row[2], row[0]) for row in rows if len(row) == 3),
                ),
            )


def _link(found: SourcePackage, pattern: re.Pattern[str]) -> ArchiveLink | None:
    for file_name, sha256 in found.files:
        if pattern.search(file_name):
            url = f"{MIRROR}/{found.folder}/{file_name}"
            return ArchiveLink(url=url, digest_name="sha256", digest=sha256)
    return None
