"""One line of what ``doctor`` says."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One line: ``note`` is worth knowing, ``missing`` must be seen to."""

    name: str
    state: Literal["ok", "note", "missing"] = "ok"
    found: str
    advice: str | None = None
