"""A file as it was when its text was used: what was read before is not used after it has changed.

Changed is what was written, renamed, deleted or created since. A question costs microseconds, so it
is asked each time before text is shown; events of an editor come late, or never.
"""

import os
from dataclasses import dataclass
from typing import Self

OPEN_TEXT = -1
"""Stands for the time of a text that is open in the editor, and perhaps not saved."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """Size and time of a file; both are 0 where there was none."""

    path: str
    num_bytes: int
    mtime_ns: int

    @classmethod
    def now(cls, path: str) -> Self:
        """Return the file as it is now; a link is not followed."""
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            return cls(path=path, num_bytes=0, mtime_ns=0)
        return cls(path=path, num_bytes=status.st_size, mtime_ns=status.st_mtime_ns)

    @property
    def is_open_text(self) -> bool:
        return self.mtime_ns == OPEN_TEXT

    def has_changed(self) -> bool:
        """Whether the file is another one by now; an open text changes by the editor's word."""
        return not self.is_open_text and self != Seen.now(self.path)
