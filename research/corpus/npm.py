"""A JavaScript package → its release in npm's registry: an archive, checked, never installed."""

import base64
import binascii
from urllib.parse import quote

import msgspec

from intarsia.research.corpus.fetch import NotThere, ReadPage
from intarsia.research.corpus.package_list import PackageRow
from intarsia.research.corpus.release import ArchiveLink, Release

REGISTRY = "https://registry.npmjs.org"


class _Dist(msgspec.Struct, frozen=True):
    tarball: str
    integrity: str = ""


class _Version(msgspec.Struct, frozen=True):
    version: str
    dist: _Dist


def find_release(row: PackageRow, read: ReadPage) -> Release:
    """Return the row's version, or the newest. Raises NotThere where npm has no such archive."""
    page = read(f"{REGISTRY}/{quote(row.name, safe='@')}/{quote(row.version or 'latest', safe='')}")
    found = msgspec.json.decode(page, type=_Version)
    digest = _sha512(found.dist.integrity)
    if digest is None:
        raise NotThere(f"npm gives no digest for {row.name} {found.version}")
    link = ArchiveLink(url=found.dist.tarball, digest_name="sha512", digest=digest)
    return Release(row=row, version=found.version, archive=link)


def _sha512(integrity: str) -> str | None:
    """Return the digest of ``sha512-<base64>``; there may be others before and behind it."""
    for words in integrity.split():
        name, _, value = words.partition("-")
        if name == "sha512":
            try:
                return base64.b64decode(value, validate=True).hex()
            except binascii.Error:
                return None
    return None
