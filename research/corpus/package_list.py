"""The packages that a corpus is made of: a text with one package a line → rows, and back.

A line is ``source name [version [sha256]]``: the first archive's digest pins what is read. Without
a version the newest is taken. Knows nothing of networks.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from intarsia.research.errors import CorpusFault

Source: TypeAlias = Literal["wheel", "sdist", "npm", "debian"]
Ecosystem: TypeAlias = Literal["pypi", "npm", "debian"]

DEFAULT_LIST = Path(__file__).parent / "packages.txt"
HELD_OUT_LIST = Path(__file__).parent / "held_out.txt"


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageRow:
    """A package, and of what kind its archive is."""

    source: Source
    name: str
    version: str | None = None
    sha256: str | None = None

    @property
    def ecosystem(self) -> Ecosystem:
        return "pypi" if self.source in ("wheel", "sdist") else self.source  # type: ignore[return-value]

    def line(self) -> str:
        """Return the row as a line of the list."""
        words = (self.source, self.name, self.version, self.sha256)
        return " ".join(word for word in words if word is not None)


def read_packages(file: Path) -> list[PackageRow]:
    """Return the rows of a list, each package once, in order. Raises CorpusFault."""
    rows = [_row(file, number, words) for number, words in _lines(file)]
    names = [(row.ecosystem, _plain_name(row.name)) for row in rows]
    for row, name in zip(rows, names, strict=True):
        if names.count(name) > 1:
            raise CorpusFault(f"{file} names {row.ecosystem} {row.name} twice: keep one line")
    return rows


def read_held_out(file: Path) -> frozenset[tuple[str, str]]:
    """Return the ``(ecosystem, name)`` of packages that must not be read. Raises CorpusFault."""
    return frozenset(_held_out(file, number, words) for number, words in _lines(file))


def held_out_name(words: str) -> tuple[str, str]:
    """Return ``(ecosystem, name)`` of ``ecosystem:name``. Raises CorpusFault."""
    ecosystem, colon, name = words.partition(":")
    if not colon or ecosystem not in get_args(Ecosystem) or not name:
        raise CorpusFault(f"{words!r} names no package: write pypi:NAME, npm:NAME or debian:NAME")
    return ecosystem, _plain_name(name)


def is_held_out(row: PackageRow, held_out: frozenset[tuple[str, str]]) -> bool:
    """Whether a package must not be read."""
    return (row.ecosystem, _plain_name(row.name)) in held_out


def _held_out(file: Path, number: int, words: list[str]) -> tuple[str, str]:
    if len(words) < 2:
        raise CorpusFault(f"line {number} of {file} is no 'ecosystem name': see to that")
    return words[0], _plain_name(words[1])


def _row(file: Path, number: int, words: list[str]) -> PackageRow:
    if not 2 <= len(words) <= 4 or words[0] not in get_args(Source):
        raise CorpusFault(
            f"line {number} of {file} is no 'source name [version [sha256]]' with a source of "
            f"{', '.join(get_args(Source))}: see to that"
        )
    name, version, sha256 = [*words[1:], None, None][:3]
    return PackageRow(source=words[0], name=name, version=version, sha256=sha256)  # type: ignore[arg-type]


def _lines(file: Path) -> list[tuple[int, list[str]]]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusFault(f"cannot read {file}: {error}; check the path") from error
    lines = enumerate(text.splitlines(), start=1)
    rows = [(number, line.partition("#")[0].split()) for number, line in lines]
    return [(number, words) for number, words in rows if words]


def _plain_name(name: str) -> str:
    """Names are the same in any case, and with any of the signs that PyPI takes for a hyphen."""
    return name.lower().replace("_", "-").replace(".", "-")
