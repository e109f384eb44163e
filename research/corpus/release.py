"""A release of a package that is not fetched yet: addresses and digests of its archives."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from intarsia_research.corpus.package_list import PackageRow

DigestName: TypeAlias = Literal["sha256", "sha512"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchiveLink:
    """An archive at an address. ``digest`` is the index's, in hexadecimal."""

    url: str
    digest_name: DigestName
    digest: str

    @property
    def file_name(self) -> str:
        return self.url.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """``notices`` is a second archive with the licence, if the first does not have it (Debian)."""

    row: PackageRow
    version: str
    archive: ArchiveLink
    notices: ArchiveLink | None = None
