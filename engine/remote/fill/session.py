"""The base of all ways to fill a hole on a server: the text so far, and how a session is asked."""

import time
from abc import abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Protocol, TypeAlias

from intarsia.engine.families.chat_form import following_of
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.read_request import (
    FillTask,
    ProjectChoice,
    RequestReader,
)
from intarsia.engine.families.protocol import ReadingSpeed, fill_timing
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import (
    Candidate,
    CanvasToken,
    Fill,
    Filled,
    FinishReason,
    Prefetch,
    Step,
)
from intarsia.engine.remote.dialects.generation import Chunk, Dialect, Reading
from intarsia.engine.remote.discovery.discover import Server
from intarsia.engine.remote.fill.contexts import (
    HeldContexts,
    context_room,
    num_before_characters,
)
from intarsia.engine.remote.fill.link import ServerLink


class Outcome(NamedTuple):
    """A hole up to its end, and what it took. ``mean_entropy``: nats per token, None if unknown."""

    tokens: tuple[CanvasToken, ...]
    num_forwards: int
    mean_entropy: float | None
    others: tuple[Candidate, ...] = ()


@dataclass(kw_only=True, slots=True)
class Written:
    """The text that a server has written into a hole so far, and what it read for that."""

    readings: list[Reading] = field(default_factory=list)
    first_at: float | None = None  # time.monotonic() of the first answer: the context is read
    finish_reason: FinishReason = "end_of_hole"
    model: str | None = None  # the server's own name of its model, from its last event

    @abstractmethod
    def outcome(self) -> Outcome:
        """Return the hole so far."""

    @property
    def num_read(self) -> int:
        """Context tokens that the server read for this hole."""
        return sum(reading.num_read for reading in self.readings)

    @property
    def num_reused(self) -> int:
        """Context tokens that the server held before."""
        return self.readings[0].num_reused if self.readings else 0


Run: TypeAlias = Callable[[Callable[[Written], None]], Written]
"""Writes a hole; it calls the function after each piece from the server."""


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

    def read_ahead(self, place: Prefetch, control: FillControl) -> None:
        """Ask the server to read the context of a hole. Raises Cancelled and ValueError, too."""
        return

    def read_nearer(self, control: FillControl) -> None:
        """Ask the server to read what the next hole will need. Raises Cancelled, too."""
        return


class ServerSession(FillingSession):
    """The base of sessions on other projects' servers."""

    slots: ClassVar[int] = 4  # contexts that a server keeps, where it does not say

    def __init__(self, link: ServerLink, server: Server, dialect: Dialect) -> None:
        self.server = server
        self.link = link
        self.dialect = dialect
        self.held = HeldContexts(max_held=server.num_slots or self.slots)
        self.speed = ReadingSpeed()

    @property
    def tokens_per_s(self) -> float | None:
        return self.speed.tokens_per_s

    def stream(self, request: object, checkpoint: Callable[[], None]) -> Generator[Chunk]:
        """Yield an answer's pieces, as ``ServerLink`` does."""
        return self.link.stream(self.dialect, request, checkpoint)

    def num_missing(self, context: Sequence[int]) -> int:
        """Return how many tokens of a context the server has to read."""
        return len(context) - self.held.num_held(context)

    @abstractmethod
    def _begin(self, request: Fill, control: FillControl) -> tuple[int, Run]:
        """Return how many tokens are of other files, and what writes the hole."""

    def fill(self, request: Fill, control: FillControl) -> Filled:
        started_at = time.monotonic()
        if request.draft and request.noise < 1:  # servers of others know no drafts
            raise ValueError("a remote engine cannot rewrite a draft: use a model of this machine")
        num_project, run = self._begin(request, control)

        def report(written: Written) -> None:
            if control.on_step is not None:
                shown = written.outcome()
                control.on_step(Step(id=request.id, step=shown.num_forwards, tokens=shown.tokens))

        written = run(report)
        self.model_name = written.model or self.model_name
        tokens, num_forwards, mean_entropy, others = written.outcome()
        first_at = written.first_at or time.monotonic()
        return Filled(
            id=request.id,
            text="".join(token.text for token in tokens),
            tokens=tokens,
            num_forwards=num_forwards,
            ms=fill_timing(control.received_at, started_at, first_at),
            mean_entropy=mean_entropy,
            finish_reason=written.finish_reason,
            model=self.link.remote.shown,
            num_prefilled=written.num_read,
            num_reused=written.num_reused,
            num_project=num_project,
            others=others,
        )


class CausalSession(ServerSession):
    """The base of sessions on servers with a causal model."""

    def __init__(
        self,
        link: ServerLink,
        server: Server,
        dialect: Dialect,
        text: FimTokenizer,
        max_context_tokens: int,
    ) -> None:
        super().__init__(link, server, dialect)
        self.text = text
        limit = context_room(server, max_context_tokens)
        self._reader = RequestReader(
            text,
            vocab_size=text.num_tokens,
            max_context_tokens=limit,
            # Ollama's plain names are those of models that follow instructions.
            following=following_of(
                link.remote.model or server.model or "a model without a name",
                is_instructed_by_default=server.system == "Ollama",
            ),
        )
        self._project = ProjectChoice(self._reader, self.num_missing, self.speed)

    def _opened(self, request: Fill, control: FillControl) -> FillTask:
        """Return a hole with the context that is worth reading. Raises Cancelled, ValueError.

        Half-typed bytes that are not whole characters are part of the context.
        """
        task = self._project.read(request, control)
        self._reader.use(task)
        self._project.note_read(task)
        num_given = num_before_characters(task.healed)
        ids = self.text.ids_of_bytes(task.healed[:num_given])
        return replace(task, context=[*task.context, *ids], healed=task.healed[num_given:])
