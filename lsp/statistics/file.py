"""The file of the counts, in the user's data folder: read by anyone, added to under a lock.

Several servers add at once. A damaged file is started again. It appears whole or not at all.
Another format would have another name, so that two versions may run side by side.
"""

import logging
import time
from pathlib import Path

import msgspec

from intarsia.engine.ipc.data_folder import data_folder
from intarsia.lsp.statistics.counts import Counts
from intarsia.lsp.statistics.whole_file import write_whole

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
