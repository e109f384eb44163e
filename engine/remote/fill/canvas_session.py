"""An open remote that is vLLM with DiffusionGemma: holes are filled on pinned canvases."""

import time
from collections.abc import Callable
from typing import Unpack

from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes
from intarsia.engine.families.diffusion_gemma.read_request import (
    HoleTask,
    ModelLimits,
    RequestReader,
)
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.engine.families.protocol import ReadingSpeed
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.remote.dialects.generation import cache_salt_of
from intarsia.engine.remote.dialects.vllm_canvas import CanvasRequest, VllmCanvas
from intarsia.engine.remote.discovery.discover import Server
from intarsia.engine.remote.discovery.tokenizer import (
    check_gemma_tokenizer,
    read_gemma_tokenizer,
)
from intarsia.engine.remote.fill.canvas_run import CanvasRun, ask_canvas
from intarsia.engine.remote.fill.contexts import HeldContexts
from intarsia.engine.remote.fill.link import ServerLink
from intarsia.engine.remote.fill.written import Run, ServerSession, SessionOptions

_MAX_HELD = 4  # contexts that the server's cache probably still has


class CanvasSession(ServerSession):
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
        held = HeldContexts(max_held=_MAX_HELD)
        super().__init__(link, server, held, ReadingSpeed(), options["shown"])
        self._dialect = dialect
        self._text = text
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

    def _begin(self, request: Fill, control: FillControl) -> tuple[int, Run]:
        """Return the run. As its forwards count requests: the server tells no number of steps.

        Its sampler has a temperature and a seed of its own, those of the request are not used.
        """
        task = self._chosen(request)
        run = CanvasRun(
            self._link, self._dialect, self._reader, self._text, self._held, task, control
        )
        return task.num_project, run.run

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


def open_canvas_session(
    link: ServerLink,
    server: Server,
    checkpoint: Callable[[], None],
    **options: Unpack[SessionOptions],
) -> CanvasSession:
    """Check the server's tokenizer, and return its session. Raises RemoteError, ModelError."""
    remote = link.remote
    text = read_gemma_tokenizer(remote)
    dialect = VllmCanvas(remote.model or server.model or "", cache_salt=cache_salt_of(remote))
    check_gemma_tokenizer(remote, text, dialect, link.watch(checkpoint))
    return CanvasSession(link, dialect, server, text, **options)
