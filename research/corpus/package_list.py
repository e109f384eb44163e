"""Read the list of packages that a corpus is built from, one a line.

A line is ``source name [version [sha256]]``. The digest is the first archive's; without a version
the newest is taken.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from intarsia_research.errors import CorpusFault

Source: TypeAlias = Literal["wheel", "sdist", "npm", "debian"]
Ecosystem: TypeAlias = Literal["pypi", "npm", "debian"]

DEFAULT_LIST = Path(__file__).parent / "packages.txt"
HELD_OUT_LIST = Path(__file__).parent / "held_out.txt"


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageRow:
    """A package of the list, and the kind of archive it is read from."""

    source: Source
    name: str
    version: str | None = None
    sha256: str | None = None

    @property
    def ecosystem(self) -> Ecosystem:
        return "pypi" if self.source in ("wheel", "sdist") else self.source  # type: ignore[return-value]

    def line(self) -> str:
        """Return the row as a line of the list."""
        fields = (self.source, self.name, self.version, self.sha256)
        return " ".join(field for field in fields if field is not None)


def read_packages(file: Path) -> list[PackageRow]:
    """Return the rows of a list, each package once, in order. Raises CorpusFault."""
    rows = [_row(file, number, fields) for number, fields in _lines(file)]
    names = [(row.ecosystem, _plain_name(row.name)) for row in rows]
    for row, name in zip(rows, names, strict=True):
        if names.count(name) > 1:
            raise CorpusFault(f"{file} names {row.ecosystem} {row.name} twice: keep one line")
    return rows


def read_held_out(file: Path) -> frozenset[tuple[str, str]]:
    """Return ``(ecosystem, name)`` of the packages that must not be read. Raises CorpusFault."""
    return frozenset(_held_out(file, number, fields) for number, fields in _lines(file))


def held_out_name(text: str) -> tuple[str, str]:
    """Parse ``ecosystem:name`` as ``(ecosystem, name)``. Raises CorpusFault."""
    ecosystem, colon, name = text.partition(":")
    if not colon or ecosystem not in get_args(Ecosystem) or not name:
        raise CorpusFault(f"{text!r} is not a package: write pypi:NAME, npm:NAME or debian:NAME")
    return ecosystem, _plain_name(name)


def is_held_out(row: PackageRow, held_out: frozenset[tuple[str, str]]) -> bool:
    """Whether a package must not be read."""
    return (row.ecosystem, _plain_name(row.name)) in held_out


def _held_out(file: Path, number: int, fields: list[str]) -> tuple[str, str]:
    if len(fields) < 2:
        raise CorpusFault(f"line {number} of {file} must be 'ecosystem name': correct it")
    return fields[0], _plain_name(fields[1])


def _row(file: Path, number: int, fields: list[str]) -> PackageRow:
    if not 2 <= len(fields) <= 4 or fields[0] not in get_args(Source):
        raise CorpusFault(
            f"line {number} of {file} must be 'source name [version [sha256]]' with a source of "
            f"{', '.join(get_args(Source))}: correct it"
        )
    name, version, sha256 = [*fields[1:], None, None][:3]
    return PackageRow(source=fields[0], name=name, version=version, sha256=sha256)  # type: ignore[arg-type]


def _lines(file: Path) -> list[tuple[int, list[str]]]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusFault(f"cannot read {file}: {error}; check the path") from error
    lines = enumerate(text.splitlines(), start=1)
    rows = [(number, line.partition("#")[0].split()) for number, line in lines]
    return [(number, fields) for number, fields in rows if fields]


def _plain_name(name: str) -> str:
    """Normalise a name: case does not matter, and PyPI reads ``_`` and ``.`` as a hyphen."""
    return name.lower().replace("_", "-").replace(".", "-")


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
