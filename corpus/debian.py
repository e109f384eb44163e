"""A Debian source package → its release: the authors' archive, and the packagers' that tells
the licence of every file.

Comes in: the index of a suite's sources; nothing is fetched but that.
"""

import lzma
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from intarsia.corpus.debian_fields import read_fields
from intarsia.corpus.fetch import NotThere, ReadPage
from intarsia.corpus.package_list import PackageRow
from intarsia.corpus.release import ArchiveLink, Release

MIRROR = "https://deb.debian.org/debian"
SUITE = "trixie"

_ORIGINAL = re.compile(r"\.orig\.tar\.(?:gz|bz2|xz)$")
_PACKAGING = re.compile(r"\.debian\.tar\.(?:gz|bz2|xz)$")
_NATIVE = re.compile(r"^[^_]+_[^_]+\.tar\.(?:gz|bz2|xz)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class SourcePackage:
    """What the index says of a package: file names with their SHA-256."""

    version: str
    folder: str
    files: tuple[tuple[str, str], ...]


def read_index(read: ReadPage, *, names: frozenset[str]) -> dict[str, SourcePackage]:
    """Return what the suite's index says of these packages; of two versions the last."""
    data = lzma.decompress(read(f"{MIRROR}/dists/{SUITE}/main/source/Sources.xz"))
    paragraphs = data.decode("utf-8").split("\n\n")
    return dict(_packages(paragraphs, names))


def find_release(row: PackageRow, index: Mapping[str, SourcePackage]) -> Release:
    """Return the suite's version of a package. Raises NotThere where it has another or none."""
    found = index.get(row.name)
    if found is None:
        raise NotThere(f"Debian {SUITE} has no source package {row.name}")
    if row.version not in (None, found.version):
        raise NotThere(f"Debian {SUITE} has {row.name} {found.version}, no longer {row.version}")
    original = _link(found, _ORIGINAL) or _link(found, _NATIVE)
    packaging = _link(found, _PACKAGING)
    if original is None:
        raise NotThere(f"Debian {SUITE} has no single archive of {row.name}")
    return Release(row=row, version=found.version, archive=original, notices=packaging)


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
