"""Build a corpus folder from a list of packages: fetch, read, filter, compare, balance, write.

Packages that are unavailable or not permitted are listed in the manifest with the reason.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

from intarsia_research.corpus import debian
from intarsia_research.corpus.choose import Chosen, choose_files
from intarsia_research.corpus.contamination import MeasuredTexts
from intarsia_research.corpus.corpus_file import digest_of, write_files
from intarsia_research.corpus.fetch import ReadPage
from intarsia_research.corpus.manifest import (
    Manifest,
    MeasuredCheck,
    ReadPackage,
    RefusedPackage,
    Tally,
    tallied,
    write_manifest,
)
from intarsia_research.corpus.package_list import PackageRow, is_held_out
from intarsia_research.corpus.read_package import (
    PackageRefused,
    ReadRelease,
    read_debian_index,
    read_package,
)
from intarsia_research.errors import CorpusFault

PINNED_NAME = "packages.txt"

ReportStage: TypeAlias = Callable[[str, float], None]
"""Called with a description of the work and the share of the build that is done."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildOptions:
    """``languages`` are LSP ids (empty: all); ``measured_sets`` are the names of ``measured``."""

    seed: int
    max_mb: float
    languages: tuple[str, ...]
    held_out: frozenset[tuple[str, str]]
    measured: MeasuredTexts
    measured_sets: tuple[str, ...]


def build_corpus(
    rows: Sequence[PackageRow],
    *,
    out: Path,
    cache: Path,
    options: BuildOptions,
    read: ReadPage,
    on_progress: ReportStage,
) -> Manifest:
    """Write a corpus folder and return its manifest. Raises CorpusFault."""
    on_progress("reading package indexes", 0.0)
    index = read_debian_index(rows, read)
    packages: list[ReadRelease] = []
    refused: list[RefusedPackage] = []
    for number, row in enumerate(rows):
        on_progress(f"{row.source} {row.name}", number / len(rows))
        try:
            packages.append(_read(row, index, cache, options, read))
        except PackageRefused as reason:
            on_progress(f"{row.source} {row.name}: left out, {reason}", number / len(rows))
            refused.append(_refused(row, reason))
    chosen = choose_files(
        (file for package in packages for file in package.candidates.files),
        measured=options.measured,
        max_bytes=int(options.max_mb * 1_000_000),
        seed=options.seed,
        on_progress=lambda stage: on_progress(stage, 1.0),
    )
    if not chosen.kept:
        raise CorpusFault("no file is left: name other packages or more languages")
    manifest = _manifest(packages, refused, chosen, options)
    out.mkdir(parents=True, exist_ok=True)
    write_files(out, chosen.kept)
    (out / PINNED_NAME).write_text(_pinned_list(packages, refused), encoding="utf-8")
    write_manifest(out, manifest)
    return manifest


def _read(
    row: PackageRow, index: debian.Index, cache: Path, options: BuildOptions, read: ReadPage
) -> ReadRelease:
    if is_held_out(row, options.held_out):
        raise PackageRefused("held out: models are evaluated on it")
    languages = frozenset(options.languages)
    return read_package(row, index, cache=cache, read=read, languages=languages, seed=options.seed)


def _refused(row: PackageRow, reason: PackageRefused) -> RefusedPackage:
    return RefusedPackage(source=row.source, name=row.name, version=row.version, reason=str(reason))


def _manifest(
    packages: list[ReadRelease],
    refused: list[RefusedPackage],
    chosen: Chosen,
    options: BuildOptions,
) -> Manifest:
    kept = chosen.kept
    dropped = {package.name: _dropped_of(package, chosen) for package in packages}
    all_dropped = [file for of_package in dropped.values() for file in of_package]
    kept_sizes: defaultdict[str, list[int]] = defaultdict(list)
    for file in kept:
        kept_sizes[file.package_name].append(file.num_bytes)
    return Manifest(
        builder=version("intarsia"),
        seed=options.seed,
        max_mb=options.max_mb,
        languages=options.languages,
        sha256=digest_of(kept),
        kept=_tally([file.num_bytes for file in kept]),
        by_language=tallied([(file.language, file.num_bytes) for file in kept]),
        by_licence=tallied([(file.licence, file.num_bytes) for file in kept]),
        dropped=tallied(all_dropped),
        measured=_measured_check(options),
        held_out=tuple(sorted(f"{ecosystem}:{name}" for ecosystem, name in options.held_out)),
        packages=tuple(
            _read_package_row(package, kept_sizes[package.name], dropped[package.name])
            for package in packages
        ),
        refused=tuple(refused),
    )


def _dropped_of(package: ReadRelease, chosen: Chosen) -> list[tuple[str, int]]:
    return [*package.candidates.dropped, *chosen.dropped.get(package.name, [])]


def _read_package_row(
    package: ReadRelease, kept_sizes: list[int], dropped: list[tuple[str, int]]
) -> ReadPackage:
    return ReadPackage(
        source=package.release.row.source,
        name=package.release.row.name,
        version=package.release.version,
        licence=package.candidates.licence,
        archives=package.archives,
        kept=_tally(kept_sizes),
        dropped=tallied(dropped),
    )


def _measured_check(options: BuildOptions) -> MeasuredCheck:
    return MeasuredCheck(
        sets=options.measured_sets,
        num_words=options.measured.num_words,
        min_different_words=options.measured.min_different_words,
        num_ngrams=options.measured.num_ngrams,
    )


def _tally(sizes: list[int]) -> Tally:
    return Tally(num_files=len(sizes), num_bytes=sum(sizes))


def _pinned_list(packages: list[ReadRelease], refused: list[RefusedPackage]) -> str:
    """Return the list that rebuilds the same corpus, with every version and digest."""
    lines = [
        PackageRow(
            source=package.release.row.source,
            name=package.release.row.name,
            version=package.release.version,
            sha256=package.archives[0].sha256,
        ).line()
        for package in packages
    ]
    comments = [f"# {row.source} {row.name}: {row.reason}" for row in refused]
    return "\n".join([*lines, *comments]) + "\n"
