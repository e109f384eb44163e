"""The files of the counts and of the last settings, in the user's data folder.

Counts are read by anyone, and added to under a lock: several servers add at once. Another format
would have another name, so that two versions may run side by side. Of settings that are texts and
lists only the number is kept: they may name what is private.
"""

import logging
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from intarsia.engine.ipc.ownership import data_folder
from intarsia.lsp.settings import CHOICES, OPTIONS, Settings
from intarsia.lsp.statistics.counts import Counts

MAX_BYTES = 100_000
"""Far more than the counts of all languages take."""

LOCK_S = 2.0

logger = logging.getLogger(__name__)


class KeptCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file. ``since``: the day of the first count, ISO 8601."""

    since: str
    counts: Counts


def statistics_file() -> Path:
    """Return where the counts are."""
    return data_folder() / "statistics.json"


def read_counts(path: Path) -> KeptCounts:
    """Return what is kept; nothing where there is no file, or one that cannot be read."""
    nothing = KeptCounts(since=time.strftime("%Y-%m-%d"), counts=Counts())
    try:
        with path.open("rb") as file:
            kept = msgspec.json.decode(file.read(MAX_BYTES), type=KeptCounts)
    except FileNotFoundError:
        return nothing
    except (OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        logger.warning("the statistics cannot be read, and start again: %s", type(error).__name__)
        return nothing
    return kept


def add_counts(path: Path, counts: Counts) -> None:
    """Add counts to the file. Raises OSError where that is not possible, TimeoutError if late."""
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock"), timeout=LOCK_S):
        kept = read_counts(path)
        kept = msgspec.structs.replace(kept, counts=kept.counts.plus(counts))
        write_whole(path, msgspec.json.format(msgspec.json.encode(kept)))


MAX_SETTINGS_BYTES = 20_000


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
                file.read(MAX_SETTINGS_BYTES), type=dict[str, str | bool | int | float]
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


def write_whole(path: Path, content: bytes) -> None:
    """Replace the file, which only the user may read. Raises OSError, and leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number, unfinished = tempfile.mkstemp(prefix=".unfinished-", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        Path(unfinished).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(unfinished).unlink()
        raise
