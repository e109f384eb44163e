"""The Filler of a remote engine, on the worker thread. Holds no model and imports no torch."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError, RemoteError
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.filler import FillsOnly, ModelInfo
from intarsia.engine.ipc.messages import Fill, Filled, Prefetch
from intarsia.engine.remote.dialects.generation import Dialect, IdsDialect, cache_salt_of
from intarsia.engine.remote.dialects.ids_servers import Sglang, Vllm
from intarsia.engine.remote.dialects.llama_cpp import LlamaCpp
from intarsia.engine.remote.dialects.text_servers import LmStudio, Mlx, Ollama
from intarsia.engine.remote.dialects.vllm_canvas import VllmCanvas
from intarsia.engine.remote.discovery.abilities import ABILITIES, NOT_YET, PRIVACY
from intarsia.engine.remote.discovery.discover import Server, discover
from intarsia.engine.remote.discovery.tokenizer import (
    check_tokenizer,
    read_gemma_tokenizer,
    read_tokenizer,
)
from intarsia.engine.remote.fill.canvas import CanvasSession
from intarsia.engine.remote.fill.ids import IdsSession
from intarsia.engine.remote.fill.link import ServerLink, ask_again
from intarsia.engine.remote.fill.session import FillingSession
from intarsia.engine.remote.fill.team import TeamSession, check_protocol
from intarsia.engine.remote.fill.text import TextSession
from intarsia.engine.remote.http.remotes import Remote, find_remote


class RemoteFiller(FillsOnly):
    """Answers fills through one server of the user's (the Filler protocol).

    The server is asked what it is before its first fill, and again after each fault: it may have
    been started with another model. It cannot be asked how likely a text is.
    """

    who = "a remote engine"
    advice = ": use a model of this machine"

    def __init__(self, remote: Remote, *, max_context_tokens: int) -> None:
        self._max_context_tokens = max_context_tokens
        self._use(remote)

    def _use(self, remote: Remote) -> None:
        self._remote = remote
        self._link = ServerLink(remote)
        self._session: FillingSession | None = None

    @property
    def info(self) -> ModelInfo:
        """The server as far as it is known. Its host is part of the name: code goes there."""
        server = None if self._session is None else self._session.server
        notes: list[str] = []
        if server is not None:
            notes += [] if server.model is None else [f"model there: {server.model}"]
            notes += [*(f"lost: {line}" for line in ABILITIES[server.system].lost), PRIVACY]
        return ModelInfo(
            name=self._remote.shown,
            family="a server of yours" if server is None else server.system,
            device=self._remote.address.shown,
            dtype=(server and server.format) or "unknown format",
            notes=tuple(notes),
        )

    def open(self, checkpoint: Callable[[], None] = NO_CONTROL.checkpoint) -> FillingSession:
        """Ask the server what it is, unless that is known. Raises RemoteError."""
        if self._session is None:
            control = FillControl(checkpoint=checkpoint)
            self._session = ask_again(lambda: self._opened(checkpoint), control)
        return self._session

    def _opened(self, checkpoint: Callable[[], None]) -> FillingSession:
        server = discover(self._remote, self._link.watch(checkpoint))
        return session_on(server, self._link, checkpoint, self._max_context_tokens)

    def fill(self, request: Fill, control: FillControl) -> Filled:
        """Fill one hole by the present settings. Raises RemoteError, Cancelled, ValueError."""
        try:
            if (remote := find_remote(self._remote.name)) != self._remote:
                self._use(remote)
            with self._link.spared():
                return self._same_model(self.open(control.checkpoint), request, control)
        except ModelError as error:
            fault = error if isinstance(error, RemoteError) else RemoteError(str(error), "model")
            fault.falls_back = self._remote.fallback
            if fault.code != "busy":
                self._session = None  # what is up next may be another server
            raise fault from error

    def _same_model(self, session: FillingSession, request: Fill, control: FillControl) -> Filled:
        """Fill with a session; refuse the answer of another model than before."""
        before = session.model_name
        filled = ask_again(lambda: session.fill(request, control), control)
        if before is not None and session.model_name != before:
            raise RemoteError(
                f"remote:{self._remote.name} has changed its model: the next fill uses the new one"
            )
        return filled

    def for_another_owner(self, *, cache_tokens: int) -> "RemoteFiller":
        """Raise ModelError: a team's engine does not pass its users' code on."""
        raise ModelError("a team's engine serves a model of its own machine: name one with --model")

    def suspended(self) -> AbstractContextManager[None]:
        """Do nothing: fills that run at the same time have connections of their own."""
        return nullcontext()

    def cached_tokens(self) -> int:
        """Return 0: the server's memory is not this machine's."""
        return 0

    def prepare(self, control: FillControl) -> None:
        """Ask the server to read up to a nearer boundary if the last hole was far after its own."""
        if self._session is not None:
            with self._link.spared():
                self._session.read_nearer(control)

    def prefetch(self, place: Prefetch, control: FillControl) -> None:
        """Ask the server to read the context of a hole before it is requested."""
        with self._link.spared():
            self.open(control.checkpoint).read_ahead(place, control)

    def prefill_tokens_per_s(self) -> float | None:
        return None if self._session is None else self._session.tokens_per_s

    def rest(self) -> None:
        """Close idle connections: the server holds the contexts, and the user pauses."""
        self._link.kept.close()


def session_on(
    server: Server, link: ServerLink, checkpoint: Callable[[], None], max_context_tokens: int
) -> FillingSession:
    """Check the tokenizer of a server of this kind. Raises RemoteError, ModelError."""
    remote, watch = link.remote, link.watch(checkpoint)
    if server.system not in ABILITIES:
        named = "no system that intarsia knows" if server.system == "unknown" else server.system
        raise RemoteError(f"remote:{remote.name} is {named}: {NOT_YET}", "model")
    if server.system == "intarsia":
        check_protocol(link, checkpoint)
        return TeamSession(link, server)
    if server.canvas_tokens is not None:
        gemma = read_gemma_tokenizer(remote)
        model = remote.model or server.model or ""
        canvases = VllmCanvas(model, cache_salt=cache_salt_of(remote))
        check_tokenizer(remote, server, gemma, canvases, watch)
        return CanvasSession(link, server, canvases, gemma, max_context_tokens)
    text = read_tokenizer(remote)
    dialect = dialect_of(remote, server, text)
    if not isinstance(dialect, IdsDialect):
        return TextSession(link, server, dialect, text, max_context_tokens)
    check_tokenizer(remote, server, text, dialect, watch)
    return IdsSession(link, server, dialect, text, max_context_tokens)


def dialect_of(remote: Remote, server: Server, text: FimTokenizer) -> Dialect:
    """Return how a server with a causal model is asked. Raises ModelError for the key file."""
    model = remote.model or server.model or ""
    match server.system:
        case "vLLM" | "NIM":
            return Vllm(model, cache_salt=cache_salt_of(remote), has_priorities=remote.priority)
        case "SGLang":
            return Sglang(model, cache_salt=cache_salt_of(remote), id_of=text.id_of)
        case "MLX":
            return Mlx(remote.model, text)
        case "LM Studio":
            return LmStudio(server.model or "")
        case "Ollama":
            return Ollama(server.model or "", context_tokens=server.context_tokens)
    return LlamaCpp(remote.model)


def load_remote(config: EngineConfig, name: str, on_progress: Progress) -> RemoteFiller:
    """Return the filler of a remote, which may be down if it has a fallback. Raises ModelError."""
    remote = find_remote(name)
    on_progress(f"asking {remote.address.shown}", None)
    filler = RemoteFiller(remote, max_context_tokens=config.max_context_tokens)
    try:
        filler.open()
    except ModelError:
        if not remote.fallback:
            raise
    return filler
