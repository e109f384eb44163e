"""debian/copyright → the permissive licence of every path in a source package.

Comes in: the file's text in Debian's machine-readable format (DEP 5); the last paragraph whose
pattern fits a path tells its licence. A file in another format tells nothing.
"""

import re
from dataclasses import dataclass

from intarsia.research.corpus.debian_fields import read_fields
from intarsia.research.corpus.licence import permitted

_FORMAT = "copyright-format/1.0"
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, kw_only=True, slots=True)
class FileLicence:
    """``licence`` is None where the words are of no permitted licence."""

    pattern: re.Pattern[str]
    licence: str | None
    words: str


def read_copyright(text: str) -> list[FileLicence]:
    """Return the paragraphs about files, in order; none where the format is another."""
    paragraphs = [read_fields(it) for it in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n"))]
    if not any(_FORMAT in fields.get("format", "") for fields in paragraphs[:2]):
        return []
    return [
        FileLicence(
            pattern=_any_of(fields["files"]), licence=_permitted(words), words=words or "nothing"
        )
        for fields in paragraphs
        if "files" in fields
        for words in [fields.get("license", "").partition("\n")[0].strip()]
    ]


def licence_of_path(paragraphs: list[FileLicence], path: str) -> tuple[str | None, str]:
    """Return what a path's paragraph permits, and in what words it says so."""
    for paragraph in reversed(paragraphs):
        if paragraph.pattern.fullmatch(path):
            return paragraph.licence, paragraph.words
    return None, "nothing"


def _permitted(words: str) -> str | None:
    """Debian writes small ``and`` and ``or``, and a comma before them."""
    plain = words.replace(",", " ")
    return permitted(re.sub(r"\b(?:and/or|or)\b", "OR", re.sub(r"\band\b(?!/)", "AND", plain)))


def _any_of(patterns: str) -> re.Pattern[str]:
    """Return one expression for the patterns: ``*`` and ``?`` match a slash too."""
    parts = [
        re.escape(glob.removeprefix("./")).replace(r"\*", ".*").replace(r"\?", ".")
        for glob in patterns.split()
    ]
    return re.compile("|".join(parts), re.DOTALL) if parts else _NEVER
