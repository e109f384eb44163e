"""Fetch a package of the list and read its files, or raise why it cannot be read.

Fetched archives are kept in a folder. Knows no other package.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from intarsia_research.corpus import debian, npm, pypi
from intarsia_research.corpus.candidates import Candidates, LicenceRefused, read_candidates
from intarsia_research.corpus.fetch import NotThere, ReadPage, fetch_archive, sha256_of
from intarsia_research.corpus.manifest import ReadArchive
from intarsia_research.corpus.members import BadArchive
from intarsia_research.corpus.package_list import ArchiveLink, PackageRow, Release
from intarsia_research.errors import CorpusFault


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadRelease:
    """A package that was read, with its files."""

    release: Release
    archives: tuple[ReadArchive, ...]
    candidates: Candidates

    @property
    def name(self) -> str:
        """Return the package's name within the corpus, as ``CorpusFile.package_name``."""
        return f"{self.release.row.ecosystem}:{self.release.row.name}"


class PackageRefused(Exception):
    """A package is not read. The message is the reason, in a few words."""


def read_debian_index(rows: Sequence[PackageRow], read: ReadPage) -> debian.Index:
    """Return Debian's entries for these packages; nothing is fetched if none is Debian's.

    Raises CorpusFault.
    """
    names = frozenset(row.name for row in rows if row.source == "debian")
    if not names:
        return {}
    try:
        return debian.read_index(read, names=names)
    except NotThere as error:
        raise CorpusFault(f"{error}: Debian's index has moved") from error


def read_package(
    row: PackageRow,
    index: debian.Index,
    *,
    cache: Path,
    read: ReadPage,
    languages: frozenset[str],
    seed: int,
) -> ReadRelease:
    """Fetch a package and read its files.

    Raises PackageRefused, or CorpusFault if the network fails.
    """
    try:
        release, files = _fetch(_find_releases(row, index, read), cache, read)
        archives = tuple(ReadArchive(url=link.url, sha256=sha256_of(file)) for link, file in files)
        if row.sha256 not in (None, archives[0].sha256):
            raise PackageRefused("its archive is not the one in the list: the digest differs")
        candidates = read_candidates(
            release,
            files[0][1],
            files[1][1] if release.notices else None,
            languages=languages,
            seed=seed,
        )
    except (NotThere, BadArchive, LicenceRefused) as error:
        raise PackageRefused(str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PackageRefused(f"its index cannot be read: {error}") from error
    return ReadRelease(release=release, archives=archives, candidates=candidates)


def fetch_pinned(row: PackageRow, cache: Path, read: ReadPage) -> Path:
    """Return the archive of a row with version and digest, fetched if it is not there.

    Raises NotThere, or CorpusFault if its digest is another or the network fails.
    """
    try:
        (release,) = _find_releases(row, {}, read)
    except msgspec.DecodeError as error:
        raise NotThere(f"its index cannot be read: {error}") from error
    file = fetch_archive(release.archive, cache, read)
    if sha256_of(file) != row.sha256:
        raise CorpusFault("its archive is not the one in the list: its digest differs")
    return file


def _find_releases(row: PackageRow, index: debian.Index, read: ReadPage) -> list[Release]:
    match row.source:
        case "debian":
            return debian.find_releases(row, index)
        case "npm":
            return [npm.find_release(row, read)]
        case "wheel" | "sdist":
            return [pypi.find_release(row, read)]


def _fetch(
    releases: list[Release], cache: Path, read: ReadPage
) -> tuple[Release, list[tuple[ArchiveLink, Path]]]:
    """Fetch the first release with archives that exist. Raises NotThere if there is none."""
    for release in releases:
        links = [release.archive, *([release.notices] if release.notices else [])]
        try:
            return release, [(link, fetch_archive(link, cache, read)) for link in links]
        except NotThere as error:
            missing = error
    raise missing
