"""Read and write ``manifest.json``: what a corpus was built from, and what was left out."""

from pathlib import Path

import msgspec

from intarsia_research.errors import CorpusFault

MANIFEST_NAME = "manifest.json"


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """A number of files and their bytes."""

    num_files: int = 0
    num_bytes: int = 0

    def plus(self, num_bytes: int) -> "Tally":
        return Tally(num_files=self.num_files + 1, num_bytes=self.num_bytes + num_bytes)


class ReadArchive(msgspec.Struct, frozen=True, kw_only=True):
    """An archive that was read. ``sha256`` is of its bytes, even if the index uses SHA-512."""

    url: str
    sha256: str


class ReadPackage(msgspec.Struct, frozen=True, kw_only=True):
    """A package that was read. ``licence`` is the package's; single files may have others."""

    source: str
    name: str
    version: str
    licence: str
    archives: tuple[ReadArchive, ...]
    kept: Tally
    dropped: dict[str, Tally]  # by reason


class RefusedPackage(msgspec.Struct, frozen=True, kw_only=True):
    """A package of the list that was not read."""

    source: str
    name: str
    version: str | None
    reason: str


class MeasuredCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The evaluation texts that the files were compared with, and how."""

    sets: tuple[str, ...]
    num_words: int
    min_different_words: int
    num_ngrams: int = msgspec.field(name="num_stretches")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """How a corpus was built, and its contents. ``sha256`` is of all files' names and digests."""

    format: int = 1
    builder: str
    seed: int
    max_mb: float
    languages: tuple[str, ...]  # as requested; empty: all
    sha256: str
    kept: Tally
    by_language: dict[str, Tally]
    by_licence: dict[str, Tally]
    dropped: dict[str, Tally]
    measured: MeasuredCheck
    held_out: tuple[str, ...]
    packages: tuple[ReadPackage, ...]
    refused: tuple[RefusedPackage, ...]


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest as indented JSON."""
    data = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    (folder / MANIFEST_NAME).write_bytes(data + b"\n")


def read_manifest(folder: Path) -> Manifest:
    """Return a corpus folder's manifest. Raises CorpusFault if it cannot be read."""
    file = folder / MANIFEST_NAME
    try:
        return msgspec.json.decode(file.read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError) as error:
        raise CorpusFault(
            f"{folder} is not a corpus ({error}): make one with `corpus build`"
        ) from error


def tallied(sizes: list[tuple[str, int]]) -> dict[str, Tally]:
    """Count ``(name, bytes)`` by name, the largest first."""
    tallies: dict[str, Tally] = {}
    for name, num_bytes in sizes:
        tallies[name] = tallies.get(name, Tally()).plus(num_bytes)
    order = sorted(tallies.items(), key=lambda item: (-item[1].num_bytes, item[0]))
    return dict(order)
