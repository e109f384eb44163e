"""What a remote's filler needs of an open server, whichever way that is asked."""

from typing import Protocol

from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.engine.remote.discovery.discover import Server


class FillingSession(Protocol):
    """A server that was asked what it is, and fills holes. All methods raise RemoteError."""

    server: Server
    model_name: str | None
    """That the server gave with its last answer."""

    @property
    def tokens_per_s(self) -> float | None:
        """How quickly the server reads contexts, None before the first long one."""
        ...

    def fill(self, request: Fill, control: FillControl) -> Filled:
        """Fill one hole. Raises Cancelled and ValueError, too."""
        ...

    def read_ahead(self, request: Fill, control: FillControl) -> None:
        """Have the server read the context of a hole. Raises Cancelled and ValueError, too."""
        ...

    def read_nearer(self, control: FillControl) -> None:
        """Have the server read what the next hole will need. Raises Cancelled, too."""
        ...


def require_no_rewrite(request: Fill) -> None:
    """Raise ValueError if a part of a draft is to stay: servers of others know no drafts."""
    if request.draft and request.noise < 1:
        raise ValueError("a remote engine cannot rewrite a draft: use a model of this machine")
