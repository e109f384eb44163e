"""Find the release of a Python package on PyPI: a wheel or a source archive.

The wheel may be of any platform: only its files are read. No package is installed or built.
"""

from urllib.parse import quote

import msgspec

from intarsia_research.corpus.fetch import NotThere, ReadPage
from intarsia_research.corpus.package_list import ArchiveLink, PackageRow, Release

INDEX = "https://pypi.org/pypi"
_FILES = "https://files.pythonhosted.org/packages/"  # a mirror's index has other addresses
_PACKAGE_TYPES = {"wheel": "bdist_wheel", "sdist": "sdist"}


class _File(msgspec.Struct, frozen=True):
    url: str
    filename: str
    packagetype: str
    digests: dict[str, str]
    yanked: bool = False


class _Info(msgspec.Struct, frozen=True):
    version: str


class _Project(msgspec.Struct, frozen=True):
    info: _Info
    releases: dict[str, list[_File]]


def find_release(row: PackageRow, read: ReadPage) -> Release:
    """Return the row's version, or the newest. Raises NotThere if PyPI has no such archive."""
    page = read(f"{INDEX}/{quote(row.name, safe='')}/json")
    project = msgspec.json.decode(page, type=_Project)
    version = row.version or project.info.version
    files = [
        file
        for file in project.releases.get(version, [])
        if file.packagetype == _PACKAGE_TYPES[row.source] and not file.yanked
    ]
    if not files:
        raise NotThere(f"PyPI has no {row.source} of {row.name} {version}")
    file = _pinned(files, row.sha256) or min(files, key=_preference)
    url = _FILES + file.url.rpartition("packages/")[2]
    link = ArchiveLink(url=url, digest_name="sha256", digest=file.digests["sha256"])
    return Release(row=row, version=version, archive=link)


def _pinned(files: list[_File], sha256: str | None) -> _File | None:
    return next((file for file in files if file.digests.get("sha256") == sha256), None)


def _preference(file: _File) -> tuple[bool, bool, str]:
    """Prefer a wheel for every platform, then one for Linux: all have the same Python sources."""
    return not file.filename.endswith("none-any.whl"), "linux" not in file.filename, file.filename
