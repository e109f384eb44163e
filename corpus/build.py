"""A list of packages → a corpus folder: fetch, read, filter, compare, balance, write.

Packages that cannot be had or may not be read are named in the manifest with the reason. Knows
nothing of models, nor of what is measured beyond the texts that it is given.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import msgspec

from intarsia.corpus import debian, npm, pypi
from intarsia.corpus.balance import balanced
from intarsia.corpus.candidates import Candidates, LicenceRefused, read_candidates
from intarsia.corpus.contamination import MeasuredTexts
from intarsia.corpus.corpus_file import CorpusFile, digest_of, write_files
from intarsia.corpus.duplicates import SeenTexts
from intarsia.corpus.faults import CorpusFault
from intarsia.corpus.fetch import NotThere, ReadPage, fetch_archive, sha256_of
from intarsia.corpus.manifest import (
    Manifest,
    MeasuredCheck,
    ReadArchive,
    ReadPackage,
    RefusedPackage,
    Tally,
    tallied,
    write_manifest,
)
from intarsia.corpus.members import BadArchive
from intarsia.corpus.package_list import PackageRow, is_held_out
from intarsia.corpus.release import Release

PINNED_NAME = "packages.txt"

OnProgress: TypeAlias = Callable[[str, float], None]
"""What is being done, and how much of all that is."""

_Index: TypeAlias = dict[str, debian.SourcePackage]


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildOptions:
    """``languages`` are LSP ids, all where none is named; ``measured_sets`` names ``measured``."""

    seed: int
    max_mb: float
    languages: tuple[str, ...]
    held_out: frozenset[tuple[str, str]]
    measured: MeasuredTexts
    measured_sets: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """A package that was read."""

    release: Release
    archives: tuple[ReadArchive, ...]
    candidates: Candidates


class _Refused(Exception):
    """Why nothing of a package is read."""


def build_corpus(
    rows: Sequence[PackageRow],
    *,
    out: Path,
    cache: Path,
    options: BuildOptions,
    read: ReadPage,
    on_progress: OnProgress,
) -> Manifest:
    """Write a corpus folder and return its manifest. Raises CorpusFault."""
    index = _debian_index(rows, read, on_progress)
    packages: list[_Read] = []
    refused: list[RefusedPackage] = []
    for number, row in enumerate(rows):
        on_progress(f"{row.source} {row.name}", number / len(rows))
        try:
            packages.append(_read_package(row, index, cache, options, read))
        except _Refused as reason:
            on_progress(f"{row.source} {row.name}: left out, {reason}", number / len(rows))
            refused.append(
                RefusedPackage(
                    source=row.source, name=row.name, version=row.version, reason=str(reason)
                )
            )
    kept, dropped = _choose(packages, options, on_progress)
    if not kept:
        raise CorpusFault("no file is left of these packages: name others or more languages")
    manifest = _manifest(packages, refused, kept, dropped, options)
    out.mkdir(parents=True, exist_ok=True)
    write_files(out, kept)
    (out / PINNED_NAME).write_text(_pinned_list(packages, refused), encoding="utf-8")
    write_manifest(out, manifest)
    return manifest


def _debian_index(rows: Sequence[PackageRow], read: ReadPage, on_progress: OnProgress) -> _Index:
    names = frozenset(row.name for row in rows if row.source == "debian")
    if not names:
        return {}
    on_progress("Debian's index of sources", 0.0)
    try:
        return debian.read_index(read, names=names)
    except NotThere as error:
        raise CorpusFault(f"{error}: Debian's index is not where it was") from error


def _read_package(
    row: PackageRow, index: _Index, cache: Path, options: BuildOptions, read: ReadPage
) -> _Read:
    if is_held_out(row, options.held_out):
        raise _Refused("held out: it is measured on")
    try:
        release = _find_release(row, index, read)
        links = [release.archive, *([release.notices] if release.notices else [])]
        files = [fetch_archive(link, cache, read) for link in links]
        archives = tuple(
            ReadArchive(url=link.url, sha256=sha256_of(file))
            for link, file in zip(links, files, strict=True)
        )
        if row.sha256 not in (None, archives[0].sha256):
            raise _Refused("its archive is no longer the one that the list pins")
        candidates = read_candidates(
            release,
            files[0],
            files[1] if release.notices else None,
            languages=frozenset(options.languages),
            seed=options.seed,
        )
    except (NotThere, BadArchive, LicenceRefused) as error:
        raise _Refused(str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _Refused(f"its index cannot be read: {error}") from error
    return _Read(release=release, archives=archives, candidates=candidates)


def _find_release(row: PackageRow, index: _Index, read: ReadPage) -> Release:
    match row.source:
        case "debian":
            return debian.find_release(row, index)
        case "npm":
            return npm.find_release(row, read)
        case "wheel" | "sdist":
            return pypi.find_release(row, read)


def _choose(
    packages: list[_Read], options: BuildOptions, on_progress: OnProgress
) -> tuple[list[CorpusFile], dict[str, list[tuple[str, int]]]]:
    """Return the files that stay, in order of name, and each package's others with the reason."""
    dropped: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)

    def keep(files: list[CorpusFile], kept: list[CorpusFile], reason: str) -> list[CorpusFile]:
        names = {file.name for file in kept}
        for file in files:
            if file.name not in names:
                dropped[_package_of(file)].append((reason, file.num_bytes))
        return sorted(kept, key=lambda file: file.name)

    files = [file for package in packages for file in package.candidates.files]
    files.sort(key=lambda file: file.name)
    on_progress("comparing files with each other", 0.9)
    seen = SeenTexts()
    files = keep(
        files, [it for it in files if seen.find_or_add(it.name, it.text) is None], "duplicate"
    )
    on_progress("comparing files with what is measured", 0.95)
    files = keep(
        files, [it for it in files if options.measured.shared_with(it.text) is None], "measured"
    )
    max_bytes = int(options.max_mb * 1_000_000)
    whole = balanced(files, max_bytes=max_bytes, seed=options.seed)
    return keep(files, whole, "beyond the language's share"), dropped


def _manifest(
    packages: list[_Read],
    refused: list[RefusedPackage],
    kept: list[CorpusFile],
    dropped: dict[str, list[tuple[str, int]]],
    options: BuildOptions,
) -> Manifest:
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for file in kept:
        sizes[_package_of(file)].append(file.num_bytes)
    rows = []
    whole: list[tuple[str, int]] = []
    for package in packages:
        name = f"{package.release.row.ecosystem}:{package.release.row.name}"
        out = [*package.candidates.dropped, *dropped.get(name, [])]
        whole += out
        rows.append(
            ReadPackage(
                source=package.release.row.source,
                name=package.release.row.name,
                version=package.release.version,
                licence=package.candidates.licence,
                archives=package.archives,
                kept=Tally(num_files=len(sizes[name]), num_bytes=sum(sizes[name])),
                dropped=tallied(out),
            )
        )
    return Manifest(
        builder=version("intarsia"),
        seed=options.seed,
        max_mb=options.max_mb,
        languages=options.languages,
        sha256=digest_of(kept),
        kept=Tally(num_files=len(kept), num_bytes=sum(file.num_bytes for file in kept)),
        by_language=tallied([(file.language, file.num_bytes) for file in kept]),
        by_licence=tallied([(file.licence, file.num_bytes) for file in kept]),
        dropped=tallied(whole),
        measured=MeasuredCheck(
            sets=options.measured_sets,
            num_words=options.measured.num_words,
            min_different_words=options.measured.min_different_words,
            num_stretches=options.measured.num_stretches,
        ),
        held_out=tuple(sorted(f"{ecosystem}:{name}" for ecosystem, name in options.held_out)),
        packages=tuple(rows),
        refused=tuple(refused),
    )


def _package_of(file: CorpusFile) -> str:
    return f"{file.ecosystem}:{file.package}"


def _pinned_list(packages: list[_Read], refused: list[RefusedPackage]) -> str:
    """Return the list by which the same corpus is built again."""
    lines = [
        PackageRow(
            source=package.release.row.source,
            name=package.release.row.name,
            version=package.release.version,
            sha256=package.archives[0].sha256,
        ).line()
        for package in packages
    ]
    comments = [f"# {it.source} {it.name}: {it.reason}" for it in refused]
    return "\n".join([*lines, *comments]) + "\n"
