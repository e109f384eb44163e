"""An open remote: a server that was asked what it is, with its tokenizer, and what it has read."""

import time
from collections.abc import Callable
from dataclasses import replace

from intarsia.engine.families.masked_causal.hole_text import HoleText
from intarsia.engine.families.masked_causal.project_choice import ProjectChoice
from intarsia.engine.families.masked_causal.read_request import FillTask, RequestReader
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.families.protocol import fill_timing
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import CanvasToken, Fill, Filled, Step
from intarsia.engine.remote.dialects.generation import Dialect
from intarsia.engine.remote.discovery.discover import Server
from intarsia.engine.remote.fill.contexts import ContextReader, context_room, num_before_characters
from intarsia.engine.remote.fill.filling_session import require_no_rewrite
from intarsia.engine.remote.fill.hole_run import HoleRun, Written
from intarsia.engine.remote.fill.link import ServerLink

_SLOTS_UNKNOWN = 4


class IdsSession:
    """Fills holes on one server that takes token ids. ``shown`` is the model's name for users."""

    def __init__(
        self,
        link: ServerLink,
        dialect: Dialect,
        server: Server,
        text: FimTokenizer,
        *,
        max_context_tokens: int,
        shown: str,
    ) -> None:
        self.server = server
        self._link = link
        self._dialect = dialect
        self._text = text
        self._shown = shown
        self._context = ContextReader(link, dialect, num_slots=server.num_slots or _SLOTS_UNKNOWN)
        limit = context_room(server, max_context_tokens)
        self._reader = RequestReader(text, vocab_size=text.num_tokens, max_context_tokens=limit)
        self._project = ProjectChoice(
            self._reader,
            num_missing=self._num_missing,
            is_worth_reading=self._context.speed.is_worth_reading,
        )
        self.model_name: str | None = None  # that the server gave with its last answer

    @property
    def tokens_per_s(self) -> float | None:
        """How quickly the server reads contexts, None before the first long one."""
        return self._context.speed.tokens_per_s

    def fill(self, request: Fill, control: FillControl) -> Filled:
        """Fill one hole. Raises RemoteError, Cancelled, ValueError."""
        started_at = time.monotonic()
        task = self._opened(request, control)
        hole_text = HoleText(self._text, task)
        run = HoleRun(self._link, self._dialect, self._context, self._text, task)
        written = run.run(_report(request, control, hole_text))
        self.model_name = run.model or self.model_name
        tokens = _tokens(hole_text, written)
        return Filled(
            id=request.id,
            text="".join(token.text for token in tokens),
            tokens=tokens,
            num_forwards=len(written.ids),
            ms=fill_timing(control.received_at, started_at, written.first_at or time.monotonic()),
            mean_entropy=written.mean_entropy,
            finish_reason=written.finish_reason,
            model=self._shown,
            num_prefilled=written.num_read,
            num_reused=written.num_reused,
            num_project=task.num_project,
        )

    def read_ahead(self, request: Fill, control: FillControl) -> None:
        """Have the server read the context of a hole. Raises RemoteError, Cancelled, ValueError.

        The file's own window comes first, unless most of what follows other files is read already.
        """
        task = self._opened(request, control)
        self._context.read(task.context, control.checkpoint, whole=True)
        if task.request.project != request.project:
            task = self._reader.read(request, control)
            self._reader.use(task)
            self._context.read(task.context, control.checkpoint, whole=True)
            self._project.note_read(task)

    def read_nearer(self, control: FillControl) -> None:
        """Have the server read up to a nearer boundary if the last hole was far after its own."""
        to_prepare = self._reader.boundary_to_prepare()
        if to_prepare is not None:
            boundary, _ = to_prepare
            self._context.read(boundary.context, control.checkpoint, whole=True)
            self._reader.remember(boundary)

    def _opened(self, request: Fill, control: FillControl) -> FillTask:
        require_no_rewrite(request)
        task = self._project.read(request, control)
        self._reader.use(task)
        self._project.note_read(task)
        return self._with_whole_characters(task)

    def _with_whole_characters(self, task: FillTask) -> FillTask:
        """Return the task with half-typed bytes that the server can take: as whole characters.

        A server that cannot be given the beginning of its text gets all these bytes in the
        context. It then continues the word with a new token, which the model may find less likely.
        """
        num_given = len(task.healed)
        if self._dialect.can_begin:
            num_given = num_before_characters(task.healed)
        return replace(
            task,
            context=[*task.context, *self._text.ids_of_bytes(task.healed[:num_given])]
            if self._dialect.can_begin
            else [*task.context, *self._text.encode(task.healed.decode("utf-8", "replace"))],
            healed=task.healed[num_given:],
        )

    def _num_missing(self, task: FillTask) -> int:
        return len(task.context) - self._context.held.num_held(task.context)


def _report(request: Fill, control: FillControl, hole_text: HoleText) -> Callable[[Written], None]:
    """Return a function that sends the hole so far to the client as a step, if it asked."""
    on_step = control.on_step

    def on_tokens(written: Written) -> None:
        if on_step is not None:
            tokens = _tokens(hole_text, written)
            on_step(Step(id=request.id, step=len(written.ids), tokens=tokens))

    return on_tokens


def _tokens(hole_text: HoleText, written: Written) -> tuple[CanvasToken, ...]:
    return hole_text.tokens(written.ids, written.confidences, num_committed=len(written.ids))
