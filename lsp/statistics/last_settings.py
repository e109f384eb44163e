"""Which settings were in force in the last window, for a report of a fault.

Of texts and lists only their number is kept: they may name what is private.
"""

from pathlib import Path

import msgspec

from intarsia.engine.ipc.data_folder import data_folder
from intarsia.lsp.settings import CHOICES, OPTIONS, Settings
from intarsia.lsp.statistics.whole_file import write_whole

MAX_BYTES = 20_000


def last_settings_file() -> Path:
    """Return where they are."""
    return data_folder() / "last-settings.json"


def plain_settings(settings: Settings) -> dict[str, str | bool | int | float]:
    """Return the settings that differ from their defaults, without texts of the user's."""
    defaults = Settings()
    return {
        key: _plain(key, getattr(settings, option.name))
        for key, option in OPTIONS.items()
        if getattr(settings, option.name) != getattr(defaults, option.name)
    }


def write_last_settings(path: Path, settings: Settings) -> None:
    """Replace the file. Raises OSError where that is not possible."""
    write_whole(path, msgspec.json.encode(plain_settings(settings)))


def read_last_settings(path: Path) -> dict[str, str | bool | int | float] | None:
    """Return what was kept; None where nothing was, or where it cannot be read."""
    try:
        with path.open("rb") as file:
            kept = msgspec.json.decode(
                file.read(MAX_BYTES), type=dict[str, str | bool | int | float]
            )
    except (OSError, ValueError, RecursionError):
        return None
    return {key: value for key, value in kept.items() if key in OPTIONS}


def _plain(key: str, value: object) -> str | bool | int | float:
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value if value in CHOICES.get(key, ()) else "(a text)"
    return f"({len(value)} entries)" if isinstance(value, tuple | dict) else "(none)"
