"""What all ways of filling a hole share: what was written so far, and how a session is asked."""

from dataclasses import dataclass, field
from typing import Protocol, TypedDict

from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill, Filled, FinishReason
from intarsia.engine.remote.dialects.generation import Reading
from intarsia.engine.remote.discovery.discover import Server


@dataclass(kw_only=True, slots=True)
class Written:
    """What a server has written into a hole so far, and what it read for that."""

    readings: list[Reading] = field(default_factory=list)
    first_at: float | None = None  # time.monotonic() of the first answer: the context is read
    finish_reason: FinishReason = "end_of_hole"
    model: str | None = None  # the server's own name of its model, from its last event

    @property
    def num_read(self) -> int:
        """Context tokens that the server read for this hole."""
        return sum(reading.num_read for reading in self.readings)

    @property
    def num_reused(self) -> int:
        """Context tokens that the server held before."""
        return self.readings[0].num_reused if self.readings else 0


class SessionOptions(TypedDict):
    """``shown`` is the model's name for users."""

    max_context_tokens: int
    shown: str


class FillingSession(Protocol):
    """A server that fills holes; most read nothing ahead. All methods raise RemoteError."""

    server: Server
    model_name: str | None = None
    """That the server gave with its last answer."""

    @property
    def tokens_per_s(self) -> float | None:
        """How quickly the server reads contexts, None before the first long one."""
        return None

    def fill(self, request: Fill, control: FillControl) -> Filled:
        """Fill one hole. Raises Cancelled and ValueError, too."""

    def read_ahead(self, request: Fill, control: FillControl) -> None:
        """Have the server read the context of a hole. Raises Cancelled and ValueError, too."""
        return

    def read_nearer(self, control: FillControl) -> None:
        """Have the server read what the next hole will need. Raises Cancelled, too."""
        return


def require_no_rewrite(request: Fill) -> None:
    """Raise ValueError if a part of a draft is to stay: servers of others know no drafts."""
    if request.draft and request.noise < 1:
        raise ValueError("a remote engine cannot rewrite a draft: use a model of this machine")
