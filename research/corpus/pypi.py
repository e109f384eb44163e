"""Find the release of a Python package in the index that pip is set up for: a wheel or an sdist.

The wheel may be of any platform: only its files are read. No package is installed or built.
"""

import os
import subprocess
import sys
from functools import cache
from urllib.parse import quote, urljoin

import msgspec
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from intarsia_research.corpus.fetch import NotThere, ReadPage
from intarsia_research.corpus.package_list import ArchiveLink, PackageRow, Release

_DEFAULT_INDEX = "https://pypi.org/simple"


class _File(msgspec.Struct, frozen=True):
    url: str
    filename: str
    hashes: dict[str, str]
    yanked: bool | str = False

    @property
    def is_wheel(self) -> bool:
        return self.filename.endswith(".whl")

    def version(self) -> Version | None:
        """Return the version in the file's name, None if it is no wheel or sdist."""
        try:
            if self.is_wheel:
                return parse_wheel_filename(self.filename)[1]
            return parse_sdist_filename(self.filename)[1]
        except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
            return None


class _Project(msgspec.Struct, frozen=True):
    files: list[_File]


@cache
def index_url() -> str:
    """Return the index that pip is set up for, PyPI's if it is set up for none."""
    found = os.environ.get("PIP_INDEX_URL", "")
    if not found:
        words = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
        found = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return (found or _DEFAULT_INDEX).rstrip("/")


def find_release(row: PackageRow, read: ReadPage) -> Release:
    """Return the row's version, or the newest. Raises NotThere if the index has no such archive."""
    page = f"{index_url()}/{quote(row.name, safe='')}/"
    project = msgspec.json.decode(read(page), type=_Project)
    found = [
        (version, file)
        for file in project.files
        if file.is_wheel == (row.source == "wheel")
        and not file.yanked
        and "sha256" in file.hashes
        and (version := file.version()) is not None
    ]
    wanted = _version(row.version) if row.version else _newest([version for version, _ in found])
    files = [file for version, file in found if version == wanted]
    if not files:
        raise NotThere(f"the index has no {row.source} of {row.name} {row.version or ''}".rstrip())
    pinned = [file for file in files if file.hashes["sha256"] == row.sha256]
    file = pinned[0] if pinned else min(files, key=_preference)
    link = ArchiveLink(
        url=urljoin(page, file.url), digest_name="sha256", digest=file.hashes["sha256"]
    )
    return Release(row=row, version=row.version or str(wanted), archive=link)


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _newest(versions: list[Version]) -> Version | None:
    """Return the newest version, as pip does: one before a release only where there is no other."""
    return max(versions, key=lambda it: (not it.is_prerelease, it), default=None)


def _preference(file: _File) -> tuple[bool, bool, str]:
    """Prefer a wheel for every platform, then one for Linux: all have the same Python sources."""
    return not file.filename.endswith("none-any.whl"), "linux" not in file.filename, file.filename
