"""Read and write the files of a corpus folder: ``files.jsonl.gz`` has one JSON row a file."""

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from intarsia_research.errors import CorpusFault

FILES_NAME = "files.jsonl.gz"

_COMPRESSION = 6


class CorpusFile(msgspec.Struct, frozen=True, kw_only=True):
    """``text`` has LF line ends, ``sha256`` is of its UTF-8 bytes, ``language`` is an LSP id."""

    ecosystem: str
    package: str
    version: str
    licence: str
    language: str
    path: str
    sha256: str
    text: str

    @property
    def num_bytes(self) -> int:
        return len(self.text) if self.text.isascii() else len(self.text.encode())

    @property
    def package_name(self) -> str:
        """Return the package's name within the corpus."""
        return f"{self.ecosystem}:{self.package}"

    @property
    def name(self) -> str:
        """Return the file's name within the corpus."""
        return f"{self.package_name}/{self.path}"


def read_corpus(folder: Path) -> Iterator[CorpusFile]:
    """Return a corpus folder's files, in order. Raises CorpusFault if it cannot be read."""
    file = folder / FILES_NAME
    decoder = msgspec.json.Decoder(CorpusFile)
    try:
        with gzip.open(file, "rb") as rows:
            for row in rows:
                yield decoder.decode(row)
    except (OSError, EOFError, msgspec.DecodeError) as error:
        raise CorpusFault(
            f"{file} is not a corpus ({error}): make one with `corpus build`"
        ) from error


def write_files(folder: Path, files: Iterable[CorpusFile]) -> None:
    """Write a corpus folder's files. The same files give the same bytes."""
    encoder = msgspec.json.Encoder()
    unfinished = folder / (FILES_NAME + ".unfinished")
    with (
        unfinished.open("wb") as raw,
        gzip.GzipFile("", "wb", _COMPRESSION, raw, mtime=0) as packed,
    ):
        for file in files:
            packed.write(encoder.encode(file) + b"\n")
    unfinished.replace(folder / FILES_NAME)


def digest_of(files: Iterable[CorpusFile]) -> str:
    """Return the SHA-256 of all names and digests, in order."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{file.sha256}\n".encode())
    return digest.hexdigest()
