"""Find the release of a Debian source package in the index of a suite.

A release has the authors' archive and the packagers', which lists the licence of every file. Only
the index is fetched here.
"""

import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from intarsia_research.corpus.debian_copyright import read_fields
from intarsia_research.corpus.fetch import NotThere, ReadPage
from intarsia_research.corpus.package_list import ArchiveLink, PackageRow, Release

MIRROR = "https://deb.debian.org/debian"
SUITES = ("trixie", "bookworm")
"""In order of preference: the first suite with the package, its version and its files is used."""

Index: TypeAlias = dict[str, list["SourcePackage"]]

_ORIGINAL = re.compile(r"\.orig\.tar\.(?:gz|bz2|xz)$")
_PACKAGING = re.compile(r"\.debian\.tar\.(?:gz|bz2|xz)$")
_NATIVE = re.compile(r"^[^_]+_[^_]+\.tar\.(?:gz|bz2|xz)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class SourcePackage:
    """A package in the index. ``files`` are names with their SHA-256."""

    version: str
    folder: str
    files: tuple[tuple[str, str], ...]


def read_index(read: ReadPage, *, names: frozenset[str]) -> Index:
    """Return these packages from the suites' indexes: an entry for each suite that has one."""
    index: Index = {}
    for suite in SUITES:
        data = lzma.decompress(read(f"{MIRROR}/dists/{suite}/main/source/Sources.xz"))
        for name, package in _packages(data.decode("utf-8").split("\n\n"), names):
            index.setdefault(name, []).append(package)
    return index


def find_releases(row: PackageRow, index: Index) -> list[Release]:
    """Return a release for each suite that has the row's version. Raises NotThere for none."""
    packages = index.get(row.name, [])
    releases = [
        Release(row=row, version=each.version, archive=original, notices=_link(each, _PACKAGING))
        for each in packages
        if row.version in (None, each.version)
        and (original := _link(each, _ORIGINAL) or _link(each, _NATIVE)) is not None
    ]
    if not releases:
        versions = ", ".join(package.version for package in packages) or "none"
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


def _link(package: SourcePackage, pattern: re.Pattern[str]) -> ArchiveLink | None:
    for file_name, sha256 in package.files:
        if pattern.search(file_name):
            url = f"{MIRROR}/{package.folder}/{file_name}"
            return ArchiveLink(url=url, digest_name="sha256", digest=sha256)
    return None
