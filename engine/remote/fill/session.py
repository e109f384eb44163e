"""An open remote with a causal model, and what it has read. It takes token ids, or else text."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Unpack

import msgspec

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.read_request import (
    FillTask,
    ProjectChoice,
    RequestReader,
)
from intarsia.engine.families.protocol import ReadingSpeed
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.remote.dialects.generation import Dialect, TextDialect
from intarsia.engine.remote.discovery.discover import Server
from intarsia.engine.remote.fill.contexts import (
    ContextReader,
    HeldContexts,
    context_room,
    num_before_characters,
)
from intarsia.engine.remote.fill.hole_run import HoleRun
from intarsia.engine.remote.fill.link import ServerLink
from intarsia.engine.remote.fill.text_run import PromptText, TextRun
from intarsia.engine.remote.fill.written import (
    Run,
    ServerSession,
    SessionOptions,
    Written,
    require_no_rewrite,
)

_SLOTS_UNKNOWN = 4
_MAX_HELD_TEXTS = 1  # a server that takes text is often one user's, with one slot


class _CausalSession(ServerSession):
    """What both sessions share."""

    def __init__(
        self,
        link: ServerLink,
        server: Server,
        text: FimTokenizer,
        held: HeldContexts,
        speed: ReadingSpeed,
        **options: Unpack[SessionOptions],
    ) -> None:
        super().__init__(link, server, held, speed, options["shown"])
        self._text = text
        limit = context_room(server, options["max_context_tokens"])
        self._reader = RequestReader(text, vocab_size=text.num_tokens, max_context_tokens=limit)
        self._project = ProjectChoice(
            self._reader,
            num_missing=lambda task: self._num_missing(task.context),
            is_worth_reading=speed.is_worth_reading,
        )


class IdsSession(_CausalSession):
    """Fills holes on one server that takes token ids."""

    def __init__(
        self,
        link: ServerLink,
        dialect: Dialect,
        server: Server,
        text: FimTokenizer,
        **options: Unpack[SessionOptions],
    ) -> None:
        self._dialect = dialect
        self._context = ContextReader(link, dialect, num_slots=server.num_slots or _SLOTS_UNKNOWN)
        super().__init__(link, server, text, self._context.held, self._context.speed, **options)

    def _begin(self, request: Fill, control: FillControl) -> tuple[int, Run]:
        task = self._opened(request, control)
        run = HoleRun(self._link, self._dialect, self._context, self._text, task)
        return task.num_project, run.run

    def read_ahead(self, request: Fill, control: FillControl) -> None:
        """Have the server read a hole's context, its own window first unless the rest is read."""
        task = self._opened(request, control)
        self._context.read(task.context, control.checkpoint, whole=True)
        if task.request.project != request.project:
            task = self._reader.read(request, control)
            self._reader.use(task)
            self._context.read(task.context, control.checkpoint, whole=True)
            self._project.note_read(task)

    def read_nearer(self, control: FillControl) -> None:
        """Have the server read up to a nearer boundary if the last hole was far after its own."""
        boundary = self._reader.boundary_to_prepare()
        if boundary is not None:
            self._context.read(boundary.context, control.checkpoint, whole=True)
            self._reader.remember(boundary)

    def _opened(self, request: Fill, control: FillControl) -> FillTask:
        require_no_rewrite(request)
        task = self._project.read(request, control)
        self._reader.use(task)
        self._project.note_read(task)
        # The server can take half-typed bytes as whole characters only.
        num_given = num_before_characters(task.healed)
        ids = self._text.ids_of_bytes(task.healed[:num_given])
        return replace(task, context=[*task.context, *ids], healed=task.healed[num_given:])


class TextSession(_CausalSession):
    """Fills holes on a server that takes text. Reading ahead would replace what is needed next."""

    def __init__(
        self,
        link: ServerLink,
        dialect: TextDialect,
        server: Server,
        text: FimTokenizer,
        **options: Unpack[SessionOptions],
    ) -> None:
        self._dialect = dialect
        self._prompt_text = PromptText(text)
        held = HeldContexts(max_held=_MAX_HELD_TEXTS)
        super().__init__(link, server, text, held, ReadingSpeed(), **options)

    def _begin(self, request: Fill, control: FillControl) -> tuple[int, Run]:
        started_at = time.monotonic()
        plain_project = self._prompt_text.without_marked(request.project)
        task = self._project.read(msgspec.structs.replace(request, project=plain_project), control)
        text_run = self._text_run(task)
        self._reader.use(task)
        self._project.note_read(task)

        def run(report: Callable[[Written], None]) -> Written:
            written = text_run.run(report)
            if written.first_at is not None:
                num_missing = self._num_missing(task.context)
                self._speed.add(num_missing, written.first_at - started_at)
            self._held.note(task.context)
            return written

        return task.num_project, run

    def _text_run(self, task: FillTask) -> TextRun:
        """Return the run of a task as text. Raises ValueError for marks in the user's code."""
        num_given = num_before_characters(task.healed)
        ids = [*task.context, *self._text.ids_of_bytes(task.healed[:num_given])]
        word = task.healed[num_given:].decode()
        marks = self._prompt_text
        prompt = marks.render(ids, word)
        return TextRun(self._link, self._dialect, task, marks, prompt=prompt, word=word)
