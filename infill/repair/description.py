"""Says in a few words what a repair does, for the title of a quick fix."""

from intarsia.infill.repair.find_repair import Repair

_MAX_SHOWN_CHARS = 30


def description_of(text: str, repair: Repair) -> str:
    """Return words such as ``insert ")"`` or ``replace "fro" by "for"``."""
    change = repair.replacement
    old, new = text[change.start : change.end].strip(), change.new.strip()
    if not old:
        return f"insert {_shown(new)}"
    if not new:
        return f"delete {_shown(old)}"
    if repair.kind == "swap":
        return f"{_shown(old)} becomes {_shown(new)}"
    return f"replace {_shown(old)} by {_shown(new)}"


def _shown(text: str) -> str:
    line = " ".join(text.split())
    is_cut = len(line) > _MAX_SHOWN_CHARS
    return f'"{line[:_MAX_SHOWN_CHARS]}{"…" if is_cut else ""}"'
