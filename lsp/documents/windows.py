"""Remembers which parts of each document the model was shown, so that the next request keeps them.

The engine reuses what it has read of a window while its edges stay.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from intarsia.infill.canvas.window import Window

MAX_WINDOWS = 8
"""Places of one document between which a user may go back and forth."""

MAX_DOCUMENTS = 100


class Windows:
    """The windows of the documents used last."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, tuple[Window, ...]] = OrderedDict()  # by URI

    def of(self, uri: str) -> "Sequence[Window]":
        """Return the document's windows, the newest first."""
        return self._of.get(uri, ())

    def remember(self, uri: str, window: "Window") -> None:
        """Put a window first; it replaces one with the same start."""
        others = [it for it in self.of(uri) if (it.start, it.head) != (window.start, window.head)]
        self._of[uri] = (window, *others[: MAX_WINDOWS - 1])
        self._of.move_to_end(uri)
        if len(self._of) > MAX_DOCUMENTS:
            self._of.popitem(last=False)
