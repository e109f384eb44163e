"""Read the licence of every path in a Debian source package from its ``debian/copyright``.

The format is Debian's machine-readable one (DEP 5). The last paragraph with a pattern that matches
a path has its licence.
"""

import re
from dataclasses import dataclass

from intarsia_research.corpus.licence import permitted

_FORMAT = "copyright-format/1.0"
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, kw_only=True, slots=True)
class FileLicence:
    """A paragraph about files. ``licence`` is None if ``wording`` names no permitted one."""

    pattern: re.Pattern[str]
    licence: str | None
    wording: str


def read_copyright(text: str) -> list[FileLicence]:
    """Return the paragraphs about files, in order; none if the format is another."""
    paragraphs = [
        read_fields(paragraph) for paragraph in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n"))
    ]
    if not any(_FORMAT in fields.get("format", "") for fields in paragraphs[:2]):
        return []
    return [
        FileLicence(
            pattern=_any_of(fields["files"]),
            licence=_permitted(wording),
            wording=wording or "nothing",
        )
        for fields in paragraphs
        if "files" in fields
        for wording in [fields.get("license", "").partition("\n")[0].strip()]
    ]


def licence_of_path(paragraphs: list[FileLicence], path: str) -> tuple[str | None, str]:
    """Return the permitted licence of a path (None: not permitted), and its original wording."""
    for paragraph in reversed(paragraphs):
        if paragraph.pattern.fullmatch(path):
            return paragraph.licence, paragraph.wording
    return None, "nothing"


def _permitted(wording: str) -> str | None:
    """Translate Debian's lower-case ``and`` and ``or``, and commas, to SPDX, and look it up."""
    plain = wording.replace(",", " ")
    return permitted(re.sub(r"\b(?:and/or|or)\b", "OR", re.sub(r"\band\b(?!/)", "AND", plain)))


def _any_of(patterns: str) -> re.Pattern[str]:
    """Return one expression for the patterns, in which ``*`` and ``?`` also match a slash."""
    parts = [
        re.escape(glob.removeprefix("./")).replace(r"\*", ".*").replace(r"\?", ".")
        for glob in patterns.split()
    ]
    return re.compile("|".join(parts), re.DOTALL) if parts else _NEVER


def read_fields(paragraph: str) -> dict[str, str]:
    """Return a paragraph's fields by lower-case name; continuation lines keep their newlines."""
    fields: dict[str, str] = {}
    name = ""
    for line in paragraph.splitlines():
        if line[:1] in (" ", "\t"):
            fields[name] = f"{fields.get(name, '')}\n{line.strip()}"
        elif ":" in line and not line.startswith("#"):
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
    return fields
