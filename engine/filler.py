"""One fill: text → token ids → denoise → text. Used by the service, on its worker thread."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from intarsia.engine.ipc.messages import Fill, Filled, Prefetch, Step


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelInfo:
    """What ``status`` says of the loaded model."""

    name: str
    family: str
    device: str
    dtype: str
    notes: tuple[str, ...]


class Filler(Protocol):
    """A loaded model that answers fills, one at a time, on one thread."""

    info: ModelInfo

    def fill(
        self,
        request: Fill,
        *,
        received_at: float,  # time.monotonic() when the request arrived
        is_cancelled: Callable[[], bool],
        on_step: Callable[[Step], None] | None,
    ) -> Filled:
        """Fill one hole. Raises Cancelled, ValueError (a field out of range), MemoryError.

        ``is_cancelled`` is asked between two passes and nowhere else: other fills may be made
        before it answers, within ``suspended``.
        """
        ...

    def suspended(self) -> AbstractContextManager[None]:
        """Let another fill be made between two passes of the one that runs, which finds everything
        as it was."""
        ...

    def cached_tokens(self) -> int:
        """Context tokens whose keys and values are held now."""
        ...

    def prepare(self, is_cancelled: Callable[[], bool]) -> None:
        """Use idle time for what the next request will need. Raises Cancelled, MemoryError."""
        ...

    def prefetch(self, place: Prefetch, is_cancelled: Callable[[], bool]) -> None:
        """Read what a fill at this place would read first. Raises Cancelled, MemoryError."""
        ...
