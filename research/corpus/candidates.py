"""Read a fetched release: the files that may be kept, and why the others are dropped.

Archives are read in place, not unpacked. Knows no other package: duplicates are found later.
"""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeAlias

import msgspec

from intarsia.infill.languages import PLAIN_TEXT, Language, language_for_id, language_for_path
from intarsia.infill.syntax.text import BYTE_ORDER_MARK, with_plain_newlines
from intarsia_research.corpus.corpus_file import CorpusFile
from intarsia_research.corpus.debian_copyright import licence_of_path, read_copyright
from intarsia_research.corpus.filters import (
    NOT_TAUGHT,
    reason_in_path,
    reason_in_size,
    reason_in_syntax,
    reason_in_text,
)
from intarsia_research.corpus.licence import licence_of_npm, licence_of_python, permitted
from intarsia_research.corpus.members import Member, read_members
from intarsia_research.corpus.package_list import Release

LicenceOf: TypeAlias = Callable[[str], tuple[str | None, str]]
"""Returns the permitted licence of a path (None: not permitted), and its original wording."""

MAX_PACKAGE_BYTES = 600_000
"""The most bytes of one language that are taken from one package."""

_SHELLS = frozenset({"bash", "dash", "ksh", "zsh"})
_SHEBANGS = (("sh", "shellscript"), ("python", "python"), ("ruby", "ruby"), ("php", "php"))
_NOTICES = frozenset(
    {"METADATA", "PKG-INFO", "package.json", "copyright", "LICENSE", "LICENSE.txt", "LICENSE.md"}
    | {"LICENSE.rst", "LICENCE", "LICENCE.txt", "COPYING", "COPYING.txt"}
)


class LicenceRefused(Exception):
    """A package's licence is not permitted or unknown. The message is one line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """``licence`` is the package's; ``dropped`` has a reason and a size in bytes for each file."""

    licence: str
    files: list[CorpusFile] = field(default_factory=list)
    dropped: list[tuple[str, int]] = field(default_factory=list)


def read_candidates(
    release: Release, archive: Path, notices: Path | None, *, languages: frozenset[str], seed: int
) -> Candidates:
    """Return the files of a release in these languages (empty: all).

    The seed draws which files are kept if a language has over MAX_PACKAGE_BYTES. Raises
    LicenceRefused, or BadArchive if an archive cannot be read.
    """
    members = read_members(archive, is_wanted=_may_be_used)
    notice_members = read_members(notices, is_wanted=_is_notice) if notices else []
    licence, licence_of = _licences(release, members, notice_members)
    candidates = Candidates(licence=licence)
    num_bytes: Counter[str] = Counter()
    for member in sorted(members, key=lambda member: _draw_key(member, seed)):
        language = _language_of(member)
        if language.id in NOT_TAUGHT or (languages and language.id not in languages):
            continue
        if num_bytes[language.id] >= MAX_PACKAGE_BYTES:
            candidates.dropped.append(("beyond the package's share", member.num_bytes))
        elif _keep_or_drop(candidates, release, member, language, licence_of):
            num_bytes[language.id] += member.num_bytes
    return candidates


def _draw_key(member: Member, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{member.path}".encode()).digest()


def _keep_or_drop(
    candidates: Candidates,
    release: Release,
    member: Member,
    language: Language,
    licence_of: LicenceOf,
) -> bool:
    """Add a file to the kept or the dropped ones; return whether it is kept."""
    licence, _ = licence_of(member.path)
    reason = reason_in_path(member.path) or reason_in_size(member.num_bytes)
    text = _text_of(member)
    if licence is None:
        reason = "other licence"
    elif reason is None and text is None:
        reason = "not UTF-8"
    elif reason is None and text is not None:
        reason = reason_in_text(text, permitted=permitted) or reason_in_syntax(text, language)
    if reason is not None or licence is None or text is None:
        candidates.dropped.append((reason or "not UTF-8", member.num_bytes))
        return False
    file = CorpusFile(
        ecosystem=release.row.ecosystem,
        package=release.row.name,
        version=release.version,
        licence=licence,
        language=language.id,
        path=member.path,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
    )
    candidates.files.append(file)
    return True


def _licences(
    release: Release, members: list[Member], notice_members: list[Member]
) -> tuple[str, LicenceOf]:
    """Return the package's licence and the licence of each path. Raises LicenceRefused."""
    if release.row.ecosystem == "debian":
        return _debian_licences(notice_members or members)
    notices = {member.path: member.data for member in members if _is_notice(member.path)}
    licence, wording = (
        licence_of_npm(_package_json(notices.get("package.json")))
        if release.row.ecosystem == "npm"
        else _python_licence(notices)
    )
    if licence is None:
        raise LicenceRefused(f"its licence is not permitted ({' '.join(wording.split())[:80]})")
    return licence, lambda _path: (licence, wording)


def _debian_licences(members: list[Member]) -> tuple[str, LicenceOf]:
    data = next(
        (
            member.data
            for member in members
            if member.path in ("copyright", "debian/copyright") and member.data
        ),
        b"",
    )
    paragraphs = read_copyright(data.decode("utf-8", "replace"))
    if not paragraphs:
        raise LicenceRefused("its debian/copyright is not in the machine-readable format")
    licence, wording = licence_of_path(paragraphs, "-")  # the paragraph for all files
    if licence is None:
        raise LicenceRefused(f"its licence is not permitted ({wording[:80]})")
    return licence, lambda path: licence_of_path(paragraphs, path)


def _python_licence(notices: dict[str, bytes | None]) -> tuple[str | None, str]:
    """Read the metadata file nearest the root: it is the package's own."""
    paths = sorted(notices, key=lambda path: (path.count("/"), path))
    texts = {path: (notices[path] or b"").decode("utf-8", "replace") for path in paths}
    metadata = next((p for p in paths if PurePosixPath(p).name in ("METADATA", "PKG-INFO")), None)
    licence_text = next((p for p in paths if p.rpartition("/")[2].startswith(("LIC", "COP"))), None)
    if metadata is None:
        return None, "no metadata"
    return licence_of_python(texts[metadata], texts[licence_text] if licence_text else "")


def _package_json(data: bytes | None) -> object:
    try:
        return msgspec.json.decode(data or b"null")
    except msgspec.DecodeError:
        return None


def _may_be_used(path: str) -> bool:
    """Whether a path may be code or a licence; one without a suffix may be a script."""
    is_script = "." not in PurePosixPath(path).name
    return is_script or _is_notice(path) or language_for_path(path).id not in NOT_TAUGHT


def _is_notice(path: str) -> bool:
    return PurePosixPath(path).name in _NOTICES


def _language_of(member: Member) -> Language:
    language = language_for_path(member.path)
    if language is not PLAIN_TEXT or member.data is None or not member.data.startswith(b"#!"):
        return language
    first_line = member.data.partition(b"\n")[0].decode("utf-8", "replace")
    words = first_line.removeprefix("#!").replace("/", " ").split()
    names = [word.rstrip("0123456789.") for word in words if not word.startswith("-")]
    for program, language_id in _SHEBANGS:
        if names and (names[-1] == program or (program == "sh" and names[-1] in _SHELLS)):
            return language_for_id(language_id)
    return PLAIN_TEXT


def _text_of(member: Member) -> str | None:
    try:
        text = (member.data or b"").decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    return with_plain_newlines(text.removeprefix(BYTE_ORDER_MARK))
