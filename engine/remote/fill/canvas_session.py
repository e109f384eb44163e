"""An open remote that is vLLM with DiffusionGemma: holes are filled on pinned canvases."""

import time
from collections.abc import Callable
from typing import Unpack

from intarsia.engine.families.diffusion_gemma.answer import answer_of, finish_reason_of
from intarsia.engine.families.diffusion_gemma.canvas.layout import CanvasSizes
from intarsia.engine.families.diffusion_gemma.canvas.read_request import (
    HoleTask,
    ModelLimits,
    RequestReader,
)
from intarsia.engine.families.diffusion_gemma.canvas.tokenizer import GemmaTokenizer
from intarsia.engine.families.protocol import ReadingSpeed, fill_timing
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill, Filled, Step
from intarsia.engine.remote.dialects.generation import cache_salt_of
from intarsia.engine.remote.dialects.vllm_canvas import CanvasRequest, VllmCanvas
from intarsia.engine.remote.discovery.discover import Server
from intarsia.engine.remote.discovery.tokenizer import (
    check_gemma_tokenizer,
    read_gemma_tokenizer,
)
from intarsia.engine.remote.fill.canvas_run import CanvasRun, WrittenHole, ask_canvas
from intarsia.engine.remote.fill.contexts import HeldContexts
from intarsia.engine.remote.fill.link import ServerLink
from intarsia.engine.remote.fill.written import FillingSession, SessionOptions, require_no_rewrite
from intarsia.engine.remote.settings.remotes import Remote

_MAX_HELD = 4  # contexts that the server's cache probably still has


class CanvasSession(FillingSession):
    """Fills holes on one server. The suffix is in the canvas, so no context becomes stale."""

    def __init__(
        self,
        link: ServerLink,
        dialect: VllmCanvas,
        server: Server,
        text: GemmaTokenizer,
        **options: Unpack[SessionOptions],
    ) -> None:
        assert server.canvas_tokens is not None
        self.server = server
        self._link = link
        self._dialect = dialect
        self._text = text
        self._shown = options["shown"]
        self._held = HeldContexts(max_held=_MAX_HELD)
        self._speed = ReadingSpeed()
        self._bucket = CanvasSizes(canvas_length=server.canvas_tokens).bucket
        max_context_tokens = options["max_context_tokens"]
        max_positions = server.context_tokens or 2 * (max_context_tokens + server.canvas_tokens)
        limits = ModelLimits(
            vocab_size=text.num_tokens,
            canvas_length=server.canvas_tokens,
            max_positions=max_positions,
            max_context_tokens=min(max_context_tokens, max_positions - server.canvas_tokens),
        )
        self._reader = RequestReader(text, limits)

    @property
    def tokens_per_s(self) -> float | None:
        return self._speed.tokens_per_s

    def fill(self, request: Fill, control: FillControl) -> Filled:
        """Fill one hole. Raises RemoteError, Cancelled, ValueError.

        ``num_forwards`` counts requests: the server does not say how many steps it took. Its
        sampler has a temperature and a seed of its own, those of the request are not used.
        """
        started_at = time.monotonic()
        require_no_rewrite(request)
        task = self._chosen(request)
        run = CanvasRun(self._link, self._dialect, self._reader, self._text, self._held)
        written = run.run(task, control, self._report(task, control))
        self.model_name = written.model or self.model_name
        answer = answer_of(written.draft, request, task.given, self._text)
        first_at = written.first_at or time.monotonic()
        return Filled(
            id=request.id,
            text=answer.text,
            tokens=answer.tokens,
            num_forwards=written.num_requests,
            ms=fill_timing(control.received_at, started_at, first_at),
            mean_entropy=answer.mean_entropy,
            finish_reason=finish_reason_of(
                answer, "deadline" if written.is_late else "done", request
            ),
            model=self._shown,
            num_prefilled=written.readings[0].num_read if written.readings else 0,
            num_reused=written.num_reused,
            num_project=task.num_project,
        )

    def read_ahead(self, request: Fill, control: FillControl) -> None:
        """Have the server read a hole's context, its own window first unless the rest is read."""
        task = self._chosen(request)
        self._read(task, control)
        if request.project is not None and not task.num_project:
            self._read(self._reader.read(request), control)

    def _chosen(self, request: Fill) -> HoleTask:
        return self._reader.choose_context(
            request,
            num_missing=self._num_missing,
            is_worth_reading=self._speed.is_worth_reading,
        )

    def _num_missing(self, context: list[int]) -> int:
        return len(context) - self._held.num_held(context)

    def _read(self, task: HoleTask, control: FillControl) -> None:
        """Have the server read a context: the shortest canvas and one step, for nothing."""
        num_missing, began = self._num_missing(task.context), time.monotonic()
        if num_missing == 0:
            return
        request = CanvasRequest(
            prompt=task.context,
            ids=[self._text.special.pad] * self._bucket,
            pinned=range(self._bucket),
            max_steps=1,
        )
        reading = ask_canvas(self._link, self._dialect, request, control.checkpoint).reading
        num_read = num_missing if reading is None else reading.num_read
        self._speed.add(num_read, time.monotonic() - began)
        self._held.note(task.context)

    def _report(self, task: HoleTask, control: FillControl) -> Callable[[WrittenHole], None]:
        """Return a function that sends each finished canvas as a step, if the client asked."""

        def on_canvas(written: WrittenHole) -> None:
            if control.on_step is not None:
                answer = answer_of(written.draft, task.request, task.given, self._text)
                step = Step(id=task.request.id, step=written.num_requests, tokens=answer.tokens)
                control.on_step(step)

        return on_canvas


def canvas_dialect_of(remote: Remote, server: Server) -> VllmCanvas:
    """Return how the server is asked for canvases. Raises ModelError for the key file."""
    return VllmCanvas(remote.model or server.model or "", cache_salt=cache_salt_of(remote))


def open_canvas_session(
    link: ServerLink,
    server: Server,
    checkpoint: Callable[[], None],
    **options: Unpack[SessionOptions],
) -> CanvasSession:
    """Check the server's tokenizer, and return its session. Raises RemoteError, ModelError."""
    text, dialect = read_gemma_tokenizer(link.remote), canvas_dialect_of(link.remote, server)
    check_gemma_tokenizer(link.remote, text, dialect, link.watch(checkpoint))
    return CanvasSession(link, dialect, server, text, **options)
