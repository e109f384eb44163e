"""The result of one check of ``intarsia doctor``."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One line of the output. ``note``: worth knowing; ``missing``: must be corrected."""

    name: str
    state: Literal["ok", "note", "missing"] = "ok"
    found: str
    advice: str | None = None
