"""An open remote that takes text: our own prompt as text, checked for marks of the user's code."""

import time
from collections.abc import Callable

from msgspec.structs import replace

from intarsia.engine.families.masked_causal.project_choice import ProjectChoice
from intarsia.engine.families.masked_causal.read_request import FillTask, RequestReader
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.families.protocol import fill_timing
from intarsia.engine.families.reading_speed import ReadingSpeed
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill, Filled, Step
from intarsia.engine.remote.dialects.generation import TextDialect
from intarsia.engine.remote.discovery.discover import Server
from intarsia.engine.remote.fill.contexts import HeldContexts, context_room, num_before_characters
from intarsia.engine.remote.fill.filling_session import require_no_rewrite
from intarsia.engine.remote.fill.link import ServerLink
from intarsia.engine.remote.fill.text_run import PromptText, TextRun, TextTask, WrittenText

_MAX_HELD = 1  # such a server is often one user's, with one slot


class TextSession:
    """Fills holes on one server that takes text. ``shown`` is the model's name for users."""

    def __init__(
        self,
        link: ServerLink,
        dialect: TextDialect,
        server: Server,
        text: FimTokenizer,
        *,
        max_context_tokens: int,
        shown: str,
    ) -> None:
        self.server = server
        self.model_name: str | None = None
        self._link = link
        self._dialect = dialect
        self._text = text
        self._prompt_text = PromptText(text)
        self._shown = shown
        self._held = HeldContexts(max_held=_MAX_HELD)
        self._speed = ReadingSpeed()
        limit = context_room(server, max_context_tokens)
        self._reader = RequestReader(text, vocab_size=text.num_tokens, max_context_tokens=limit)
        self._project = ProjectChoice(
            self._reader,
            num_missing=self._num_missing,
            is_worth_reading=self._speed.is_worth_reading,
        )

    @property
    def tokens_per_s(self) -> float | None:
        """How quickly the server reads contexts, None before the first long one."""
        return self._speed.tokens_per_s

    def fill(self, request: Fill, control: FillControl) -> Filled:
        """Fill one hole. Raises RemoteError, Cancelled, ValueError."""
        require_no_rewrite(request)
        started_at = time.monotonic()
        plain = replace(request, project=self._prompt_text.without_marked(request.project))
        task = self._project.read(plain, control)
        run = TextRun(self._link, self._dialect, self._text_task(task))
        self._reader.use(task)
        self._project.note_read(task)
        written = run.run(_report(request, control))
        self.model_name = run.model or self.model_name
        self._note(task, written, started_at)
        tokens = written.tokens()
        return Filled(
            id=request.id,
            text="".join(token.text for token in tokens),
            tokens=tokens,
            num_forwards=len(written.pieces),
            ms=fill_timing(control.received_at, started_at, written.first_at or time.monotonic()),
            mean_entropy=written.mean_entropy,
            finish_reason=written.finish_reason,
            model=self._shown,
            num_prefilled=sum(reading.num_read for reading in written.readings),
            num_reused=written.readings[0].num_reused if written.readings else 0,
            num_project=task.num_project,
        )

    def read_ahead(self, request: Fill, control: FillControl) -> None:
        """Do nothing: what is read in idle time would replace what the next key needs."""

    def read_nearer(self, control: FillControl) -> None:
        """Do nothing, as for ``read_ahead``."""

    def _text_task(self, task: FillTask) -> TextTask:
        """Return the task as text. Raises ValueError for marks in the user's code."""
        num_given = num_before_characters(task.healed)
        ids = [*task.context, *self._text.ids_of_bytes(task.healed[:num_given])]
        word = task.healed[num_given:].decode()
        return TextTask(
            request=task.request,
            control=task.control,
            prompt=self._prompt_text.render(ids, word),
            word=word,
            marks=self._prompt_text,
        )

    def _num_missing(self, task: FillTask) -> int:
        return len(task.context) - self._held.num_held(task.context)

    def _note(self, task: FillTask, written: WrittenText, started_at: float) -> None:
        """Note what the server holds now, and how quickly it read."""
        if written.first_at is not None:
            self._speed.add(self._num_missing(task), written.first_at - started_at)
        self._held.note(task.context)


def _report(request: Fill, control: FillControl) -> Callable[[WrittenText], None]:
    """Return a function that sends the hole so far to the client as a step, if it asked."""
    on_step = control.on_step

    def on_pieces(written: WrittenText) -> None:
        if on_step is not None:
            on_step(Step(id=request.id, step=len(written.pieces), tokens=written.tokens()))

    return on_pieces
