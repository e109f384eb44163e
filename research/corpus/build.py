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

from intarsia.research.corpus import debian
from intarsia.research.corpus.choose import Chosen, choose_files
from intarsia.research.corpus.contamination import MeasuredTexts
from intarsia.research.corpus.corpus_file import digest_of, write_files
from intarsia.research.corpus.fetch import ReadPage
from intarsia.research.corpus.manifest import (
    Manifest,
    MeasuredCheck,
    ReadPackage,
    RefusedPackage,
    Tally,
    tallied,
    write_manifest,
)
from intarsia.research.corpus.package_list import PackageRow, is_held_out
from intarsia.research.corpus.read_package import (
    PackageRefused,
    ReadRelease,
    read_debian_index,
    read_package,
)
from intarsia.research.errors import CorpusFault

PINNED_NAME = "packages.txt"

OnProgress: TypeAlias = Callable[[str, float], None]
"""What is being done, and how much of all that is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildOptions:
    """``languages`` are LSP ids, all where none is named; ``measured_sets`` names ``measured``."""

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
    on_progress: OnProgress,
) -> Manifest:
    """Write a corpus folder and return its manifest. Raises CorpusFault."""
    on_progress("the indexes of packages", 0.0)
    index = read_debian_index(rows, read)
    packages: list[ReadRelease] = []
    refused: list[RefusedPackage] = []
    for number, row in enumerate(rows):
        on_progress(f"{row.source} {row.name}", number / len(rows))
        try:
            packages.append(_read(row, index, cache, options, read))
        except PackageRefused as reason:
            on_progress(f"{row.source} {row.name}: left out, {reason}", number / len(rows))
            refused.append(
                RefusedPackage(
                    source=row.source, name=row.name, version=row.version, reason=str(reason)
                )
            )
    chosen = choose_files(
        (file for package in packages for file in package.candidates.files),
        measured=options.measured,
        max_bytes=int(options.max_mb * 1_000_000),
        seed=options.seed,
        on_progress=lambda stage: on_progress(stage, 1.0),
    )
    if not chosen.kept:
        raise CorpusFault("no file is left of these packages: name others or more languages")
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
        raise PackageRefused("held out: it is measured on")
    languages = frozenset(options.languages)
    return read_package(row, index, cache=cache, read=read, languages=languages, seed=options.seed)


def _manifest(
    packages: list[ReadRelease],
    refused: list[RefusedPackage],
    chosen: Chosen,
    options: BuildOptions,
) -> Manifest:
    kept = chosen.kept
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for file in kept:
        sizes[file.package_name].append(file.num_bytes)
    rows = []
    whole: list[tuple[str, int]] = []
    for package in packages:
        out = [*package.candidates.dropped, *chosen.dropped.get(package.name, [])]
        whole += out
        rows.append(
            ReadPackage(
                source=package.release.row.source,
                name=package.release.row.name,
                version=package.release.version,
                licence=package.candidates.licence,
                archives=package.archives,
                kept=Tally(num_files=len(sizes[package.name]), num_bytes=sum(sizes[package.name])),
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


def _pinned_list(packages: list[ReadRelease], refused: list[RefusedPackage]) -> str:
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
