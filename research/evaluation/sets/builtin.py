"""Cases from the built-in set: stored holes in files of released packages.

The files are in an archive in ``builtin_files``. Its manifest has their sources and digests; a file
with another digest is refused.
"""

import hashlib
import random
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

import msgspec

from intarsia.engine.cache.folder import cache_folder
from intarsia.infill.languages import language_for_id
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case, CaseKind
from intarsia_research.evaluation.sets.cut_case import cut_case, hole_kinds, language_ids
from intarsia_research.evaluation.sets.take_turns import take_turns
from intarsia_research.holes.cut_holes import CutHole, CutHoleKind

SET_NAME = "builtin"
FOLDER = Path(__file__).with_name("builtin_files")
ARCHIVE = "files.zip"


class BuiltinFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file and its source."""

    path: str  # in the archive: language/package/name
    language: str
    package: str
    version: str
    ecosystem: str
    licence: str
    url: str
    sha256: str


class BuiltinHole(msgspec.Struct, frozen=True, kw_only=True):
    """``start`` and ``end`` count characters of the decoded text."""

    path: str
    kind: CutHoleKind
    start: int
    end: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of the folder."""

    files: tuple[BuiltinFile, ...]
    holes: tuple[BuiltinHole, ...]


def builtin_cases(
    *,
    languages: Sequence[str] | None,
    kinds: Sequence[CaseKind] | None,
    limit: int | None,
    seed: int,
    folder: Path = FOLDER,
) -> list[Case]:
    """Return all cases in the manifest's order, or ``limit``, even over languages and kinds.

    Raise EvaluationFault if a name is wrong, a file was changed or no case is left.
    """
    wanted_languages = language_ids(languages) if languages else None
    wanted_kinds = hole_kinds(kinds)
    cases = [
        case
        for case in _all_cases(folder)
        if (wanted_languages is None or case.language in wanted_languages)
        and case.kind in wanted_kinds
    ]
    if not cases:
        raise EvaluationFault("the built-in set has no such hole: choose other languages or kinds")
    return cases if limit is None else _sample(cases, wanted_kinds, limit, seed)


def _all_cases(folder: Path) -> list[Case]:
    manifest = _read_manifest(folder)
    languages = {file.path: language_for_id(file.language) for file in manifest.files}
    files = _read_files(folder / ARCHIVE, manifest)
    texts = {path: data.decode("utf-8") for path, data in files.items()}
    for hole in manifest.holes:
        if not 0 <= hole.start < hole.end <= len(texts.get(hole.path, "")):
            raise _damaged(f"a hole of {hole.path} is outside it")
    unpacked = _unpacked(files)
    return [
        replace(
            cut_case(
                texts[hole.path],
                CutHole(kind=hole.kind, start=hole.start, end=hole.end),
                path=hole.path,
                language=languages[hole.path],
                set_name=SET_NAME,
            ),
            root=(unpacked / hole.path).parent,
        )
        for hole in manifest.holes
    ]


def _read_manifest(folder: Path) -> Manifest:
    try:
        data = (folder / "manifest.json").read_bytes()
        return msgspec.json.decode(data, type=Manifest)
    except (OSError, msgspec.DecodeError) as error:
        raise _damaged(f"its manifest cannot be read ({error})") from error


def _read_files(archive: Path, manifest: Manifest) -> dict[str, bytes]:
    files = {}
    try:
        with zipfile.ZipFile(archive) as packed:
            for file in manifest.files:
                files[file.path] = packed.read(file.path)
                if hashlib.sha256(files[file.path]).hexdigest() != file.sha256:
                    raise _damaged(f"{file.path} has another digest than in the manifest")
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise _damaged(f"its files cannot be read ({error})") from error
    return files


def _unpacked(files: Mapping[str, bytes]) -> Path:
    """Return a folder in the cache that has the files: context of other files is read from it."""
    digest = hashlib.sha256(b"".join(files.values())).hexdigest()[:16]
    folder = cache_folder() / "builtin-set" / digest
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as made:
            whole = Path(made, "files")
            for path, data in files.items():
                (whole / path).parent.mkdir(parents=True, exist_ok=True)
                (whole / path).write_bytes(data)
            with suppress(OSError):  # another process was faster
                whole.rename(folder)
    return folder


def _damaged(what: str) -> EvaluationFault:
    return EvaluationFault(f"the built-in set is damaged: {what}; install intarsia again")


def _sample(
    cases: Sequence[Case], kinds: Sequence[CutHoleKind], limit: int, seed: int
) -> list[Case]:
    order = list(cases)
    random.Random(seed).shuffle(order)
    by_place: defaultdict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in order:
        by_place[case.language, case.kind].append(case)
    languages = sorted({case.language for case in cases})
    sources = {place: iter(found) for place, found in by_place.items()}
    return list(islice(take_turns(sources, languages, kinds), limit))
