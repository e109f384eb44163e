"""Read fields of a server's JSON that may be anything: a field of another type is None or empty."""

from typing import Any


def text_of(value: object) -> str | None:
    """Return a short printable text of a server's answer, None for anything else."""
    if not isinstance(value, str):
        return None
    return "".join(sign for sign in value if sign.isprintable())[:200] or None


def whole_of(value: object) -> int | None:
    """Return a number above 0, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def table_of(value: object) -> dict[str, Any]:
    """Return a table, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []
