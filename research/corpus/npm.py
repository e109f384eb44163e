"""Find the release of a JavaScript package in the registry that npm is set up for.

Nothing is installed.
"""

import base64
import binascii
import shutil
import subprocess
from functools import cache
from urllib.parse import quote

import msgspec

from intarsia_research.corpus.fetch import NotThere, ReadPage
from intarsia_research.corpus.package_list import ArchiveLink, PackageRow, Release

_DEFAULT_REGISTRY = "https://registry.npmjs.org"


class _Dist(msgspec.Struct, frozen=True):
    tarball: str
    integrity: str = ""


class _Version(msgspec.Struct, frozen=True):
    version: str
    dist: _Dist


@cache
def registry_url() -> str:
    """Return the registry that npm is set up for; without npm, its own."""
    npm = shutil.which("npm")
    if npm is None:
        return _DEFAULT_REGISTRY
    words = [npm, "config", "get", "registry"]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    return (found.stdout.strip() or _DEFAULT_REGISTRY).rstrip("/")


def find_release(row: PackageRow, read: ReadPage) -> Release:
    """Return the row's version, or the newest. Raises NotThere if npm has no such archive."""
    page = read(
        f"{registry_url()}/{quote(row.name, safe='@')}/{quote(row.version or 'latest', safe='')}"
    )
    release = msgspec.json.decode(page, type=_Version)
    digest = _sha512(release.dist.integrity)
    if digest is None:
        raise NotThere(f"npm gives no digest for {row.name} {release.version}")
    link = ArchiveLink(url=release.dist.tarball, digest_name="sha512", digest=digest)
    return Release(row=row, version=release.version, archive=link)


def _sha512(integrity: str) -> str | None:
    """Return the hexadecimal digest of ``sha512-<base64>``, which may be among others."""
    for digest in integrity.split():
        name, _, value = digest.partition("-")
        if name == "sha512":
            try:
                return base64.b64decode(value, validate=True).hex()
            except binascii.Error:
                return None
    return None
