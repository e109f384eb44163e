"""How many suggestions were shown, accepted and kept, by language, and why others were not shown.

The counts and the last settings are kept in the user's data folder: no text, no name and no path.
Counts are read by anyone, and added to under a lock: several servers add at once. Another format
would have another name, so that two versions may run side by side. Of settings that are texts and
lists only the number is kept: they may name what is private.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec
from filelock import FileLock

from intarsia.engine.ipc.messages import summed
from intarsia.engine.ipc.ownership import data_folder, write_own_file
from intarsia.infill.languages import language_for_id
from intarsia.lsp.session import Feature
from intarsia.lsp.settings import CHOICES, OPTIONS, Settings

if TYPE_CHECKING:  # `intarsia status` needs no protocol
    from intarsia.lsp.session import Session

MAX_KINDS = 60
OTHER = "other"


class LanguageCounts(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The counts of one language. ``kept`` are those of ``ended`` that outlived half a minute."""

    shown: int = 0
    accepted: int = 0
    kept: int = 0
    ended: int = 0


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """All counts. ``not_shown``: requests without a suggestion, by the kind of their reason."""

    languages: dict[str, LanguageCounts] = {}
    not_shown: dict[str, int] = msgspec.field(default_factory=dict, name="notShown")

    @property
    def is_empty(self) -> bool:
        return not (self.languages or self.not_shown)

    @property
    def total(self) -> LanguageCounts:
        total = LanguageCounts()
        for counts in self.languages.values():
            total = summed(total, counts)
        return total

    def plus(self, other: "Counts") -> "Counts":
        """Return the sum, with unknown languages and too many kinds of reasons as others."""
        languages: dict[str, LanguageCounts] = {}
        for id, counts in (*self.languages.items(), *other.languages.items()):
            known = id if language_for_id(id).id == id else OTHER
            languages[known] = summed(languages.get(known, LanguageCounts()), counts)
        return Counts(languages=languages, not_shown=_sum_of_kinds(self.not_shown, other.not_shown))


def _sum_of_kinds(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    kinds: dict[str, int] = {}
    for kind, number in (*one.items(), *other.items()):
        is_known = kind.isidentifier() and (kind in kinds or len(kinds) < MAX_KINDS)
        known = kind if is_known else OTHER
        kinds[known] = kinds.get(known, 0) + number
    return kinds


MAX_BYTES = 100_000
"""Far more than the counts of all languages take."""

LOCK_S = 2.0

logger = logging.getLogger(__name__)


class KeptCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file. ``since``: the day of the first count, ISO 8601."""

    since: str
    counts: Counts


def statistics_file() -> Path:
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
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock"), timeout=LOCK_S):
        kept = read_counts(path)
        kept = msgspec.structs.replace(kept, counts=kept.counts.plus(counts))
        write_own_file(path, msgspec.json.format(msgspec.json.encode(kept)))


MAX_SETTINGS_BYTES = 20_000


def last_settings_file() -> Path:
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
    path.parent.mkdir(parents=True, exist_ok=True)
    write_own_file(path, msgspec.json.encode(plain_settings(settings)))


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


WRITE_AFTER_S = 60.0


class Recorder(Feature):
    """The counts that are not in the file yet."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        """``settings`` returns those in force."""
        self._settings = settings
        self._counts = Counts()
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    @classmethod
    def for_session(cls, session: "Session") -> Self:
        return cls(lambda: session.settings)

    def count(self, language: str, counts: LanguageCounts) -> None:
        """Count what became of a suggestion in a document of this language."""
        self._add(Counts(languages={language: counts}))

    def count_reason(self, kind: str) -> None:
        """Count a request without a suggestion."""
        self._add(Counts(not_shown={kind: 1}))

    async def close(self) -> None:
        if self._writing is not None:
            await self._writing
        await self._write()

    def _add(self, counts: Counts) -> None:
        if not self._settings().statistics:
            return
        self._counts = self._counts.plus(counts)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(WRITE_AFTER_S, self._start_writing)

    def _start_writing(self) -> None:
        self._timer = None
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        counts, self._counts = self._counts, Counts()
        if counts.is_empty:
            return
        try:
            await asyncio.to_thread(add_counts, statistics_file(), counts)
            await asyncio.to_thread(write_last_settings, last_settings_file(), self._settings())
        except OSError as error:  # a lock that is not free in time is one, too
            logger.warning("the statistics are not kept: %s", type(error).__name__)
