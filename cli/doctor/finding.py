"""The result of one check of ``intarsia doctor``."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the output. ``note``: worth knowing; ``missing``: must be corrected."""

    name: str
    state: Literal["ok", "note", "missing"]
    found: str
    advice: str | None = None


def ok(name: str, found: str) -> Finding:
    return Finding(name, "ok", found)


def note(name: str, found: str, advice: str) -> Finding:
    return Finding(name, "note", found, advice)


def missing(name: str, found: str, advice: str) -> Finding:
    return Finding(name, "missing", found, advice)
