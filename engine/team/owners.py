"""One loaded model for many users, who share its weights and nothing else.

Each user has a filler with contexts, earlier answers and open files of the user's own. So no text
of one user is a context, a draft or a hint for another, and how long a fill takes says nothing of
what others have sent, apart from how busy the engine is.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import Filler, FillsOnly
from intarsia.engine.ipc.messages import Fill, Filled, Prefetch


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnedContexts:
    """How many context tokens the KV caches hold: of one user, and of all together."""

    of_user: int
    of_all: int


class OwnersFiller(FillsOnly):
    """A Filler that passes each request on to the filler of the request's owner.

    Where there is no room for more contexts, those of the user are forgotten who has been quiet for
    the longest time.
    """

    who = "a team's engine"

    def __init__(self, model: Filler, limits: OwnedContexts) -> None:
        self.info = model.info
        self._model = model  # fills nothing itself
        self._limits = limits
        self._of: dict[str, Filler] = {}  # the user served last comes last
        self._running: list[str] = []  # owners; all but the last are suspended

    @property
    def num_users(self) -> int:
        return len(self._of)

    def fill(self, request: Fill, control: FillControl) -> Filled:
        with self._used(request.owner) as filler:
            return filler.fill(request, control)

    def prefetch(self, place: Prefetch, control: FillControl) -> None:
        """Read the context of a hole into the contexts of its owner."""
        with self._used(place.owner) as filler:
            filler.prefetch(place, control)

    def suspended(self) -> AbstractContextManager[None]:
        return self._of[self._running[-1]].suspended() if self._running else nullcontext()

    def cached_tokens(self) -> int:
        """Return the number of context tokens of all users."""
        return sum(filler.cached_tokens() for filler in self._of.values())

    def prepare(self, control: FillControl) -> None:
        """Use idle time for the next request of the user who was served last."""
        if self._of:
            with self._used(next(reversed(self._of))) as filler:
                filler.prepare(control)

    def prefill_tokens_per_s(self) -> float | None:
        """Return how quickly contexts are read, as the user served last has seen it."""
        speeds = (filler.prefill_tokens_per_s() for filler in reversed(self._of.values()))
        return next((speed for speed in speeds if speed is not None), None)

    def rest(self) -> None:
        """Do nothing: the contexts of a team stay in memory."""

    def for_another_owner(self, *, cache_tokens: int) -> Filler:
        return self._model.for_another_owner(cache_tokens=cache_tokens)

    @contextmanager
    def _used(self, owner: str) -> Iterator[Filler]:
        """Hold the filler of a user while it works; then forget what there is no room for."""
        filler = self._of.pop(owner, None)
        if filler is None:
            filler = self._model.for_another_owner(cache_tokens=self._limits.of_user)
        self._of[owner] = filler
        self._running.append(owner)
        try:
            yield filler
        finally:
            self._running.pop()
            self._make_room()

    def _make_room(self) -> None:
        for owner in list(self._of)[:-1]:
            if self.cached_tokens() <= self._limits.of_all:
                return
            if owner not in self._running:
                del self._of[owner]
