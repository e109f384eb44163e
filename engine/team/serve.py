"""Run a team's engine: load the model, serve HTTP, and end in good order at SIGTERM.

At the first signal ``/readyz`` says no and nothing more is taken on, so that a balancer chooses
another engine. A few seconds later the running fills are awaited, and the process ends.
"""

import logging
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import psutil
import uvicorn

from intarsia.engine.bounded_http import BoundedConfig, server_tls
from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import Filler, FillsOnly
from intarsia.engine.ipc.messages import Failed, Fill, Filled, Prefetch, Preload
from intarsia.engine.remote.http.remotes import is_loopback
from intarsia.engine.service.job import Answer, Job
from intarsia.engine.service.model_slot import LoadFiller, ModelSlot
from intarsia.engine.service.process import (
    keep_few_kernels,
    load_default_filler,
    set_up_logging,
    spin_briefly,
)
from intarsia.engine.service.worker import Worker
from intarsia.engine.team.app import TeamEngine, team_app
from intarsia.engine.team.keys import KeyFileError, TeamKeys
from intarsia.engine.team.metrics import TeamMetrics
from intarsia.engine.team.quotas import Quotas, TeamLimits


class OwnersFiller(FillsOnly):
    """A Filler that passes each request on to the filler of the request's owner.

    Users share the model's weights and nothing else: no text of one is a context, a draft or a hint
    for another, and how long a fill takes tells only how busy the engine is. Where there is no room
    for more contexts, those of the user are forgotten who has been quiet for the longest time.
    """

    who = "a team's engine"

    def __init__(self, model: Filler, *, of_user: int, of_all: int) -> None:
        """``of_user``, ``of_all``: the most context tokens of one user, and of all together."""
        self.info = model.info
        self._model = model  # fills nothing itself
        self._of_user, self._of_all = of_user, of_all
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

    @property
    def is_behind(self) -> bool:
        """Whether the user who was served last waits for something to be read."""
        return bool(self._of) and next(reversed(self._of.values())).is_behind

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
            filler = self._model.for_another_owner(cache_tokens=self._of_user)
        self._of[owner] = filler
        self._running.append(owner)
        try:
            yield filler
        finally:
            self._running.pop()
            self._make_room()

    def _make_room(self) -> None:
        for owner in list(self._of)[:-1]:
            if self.cached_tokens() <= self._of_all:
                return
            if owner not in self._running:
                del self._of[owner]


MAX_CONNECTIONS = 512
PATIENCE_S = 10.0
"""For a TLS handshake and a request's head together, and for a client that reads nothing."""

_END_PATIENCE_S = 10.0
"""The time that running fills get after the time of draining."""

_log = logging.getLogger(__name__)


class TeamError(Exception):
    """The engine cannot be served this way. One line says why, and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamOptions:
    """Where and for whom to serve. ``is_behind_proxy``: a proxy ends TLS before this engine."""

    keys: Path
    host: str = "127.0.0.1"
    port: int = 8420
    tls_cert: Path | None = None
    tls_key: Path | None = None
    is_behind_proxy: bool = False
    user_cache_tokens: int = 8_192
    drain_s: float = 5.0
    limits: TeamLimits = field(default_factory=TeamLimits)

    def check(self) -> None:
        """Raise TeamError for options that do not fit together."""
        if (self.tls_cert is None) != (self.tls_key is None):
            raise TeamError("TLS needs both a certificate and its key: give both")
        is_plain = self.tls_cert is None and not self.is_behind_proxy
        if is_plain and not is_loopback(self.host):
            raise TeamError(
                f"{self.host} is reachable by others, who can read plain HTTP: give a TLS "
                "certificate, or say that a proxy terminates TLS"
            )

    def tls(self) -> ssl.SSLContext | None:
        """Return the server's side of TLS. Raises OSError and ValueError for its files."""
        if self.tls_cert is None or self.tls_key is None:
            return None
        return server_tls(self.tls_cert, self.tls_key)


def run_team_engine(config: EngineConfig, options: TeamOptions) -> None:
    """Serve until a signal ends it. Raises TeamError if it cannot start."""
    options.check()
    set_up_logging(foreground=True)
    engine = team_engine(config, options)
    try:
        server = _DrainingServer(http_config(engine, options), engine, options.drain_s)
    except (OSError, ValueError) as error:  # of the certificate
        raise TeamError(f"the TLS certificate or its key cannot be used: {error}") from error
    start(engine)
    server.run()
    engine.worker.stop(_END_PATIENCE_S)
    if not server.started:
        raise TeamError(f"{options.host} port {options.port} cannot be listened on: see the log")


def team_engine(
    config: EngineConfig, options: TeamOptions, *, load_filler: LoadFiller = load_default_filler
) -> TeamEngine:
    """Return the engine of a process, not started yet. Raises TeamError for its file of keys."""
    try:
        keys = TeamKeys(options.keys)
    except KeyFileError as error:
        raise TeamError(str(error)) from error
    spin_briefly()
    keep_few_kernels()
    of_user = min(options.user_cache_tokens, config.cache_tokens)

    def load(config: EngineConfig, model: str, on_progress: Progress) -> Filler:
        loaded = load_filler(config, model, on_progress)
        return OwnersFiller(loaded, of_user=of_user, of_all=config.cache_tokens)

    slot = ModelSlot(config, load, _log_progress)
    worker = Worker(slot)
    return TeamEngine(
        worker=worker,
        model=config.model,
        keys=keys,
        quotas=(quotas := Quotas(options.limits)),
        metrics=_metrics_of(worker, quotas, slot),
    )


def start(engine: TeamEngine) -> None:
    """Start an engine's thread, and load the model at once."""
    engine.worker.start()
    engine.worker.submit(
        Job(request=Preload(id=0), client="", received_at=time.monotonic(), deliver=_log_preloaded)
    )


def _metrics_of(worker: Worker, quotas: Quotas, slot: ModelSlot) -> TeamMetrics:
    process = psutil.Process()

    def num_users() -> int:
        return slot.filler.num_users if isinstance(slot.filler, OwnersFiller) else 0

    return TeamMetrics(
        {
            "waiting_fills": lambda: worker.num_waiting,
            "fills_in_flight": lambda: quotas.num_in_flight,
            "cached_tokens": lambda: worker.cached_tokens,
            "users_with_contexts": num_users,
            "resident_bytes": lambda: process.memory_info().rss,
            "ready": lambda: worker.model_info is not None,
        }
    )


def http_config(engine: TeamEngine, options: TeamOptions) -> BoundedConfig:
    """Return how an engine is served. Raises OSError and ValueError for the certificate."""
    return BoundedConfig(
        team_app(engine),
        host=options.host,
        port=options.port,
        tls=options.tls(),
        max_connections=MAX_CONNECTIONS,
        patience_s=PATIENCE_S,
        log_level="warning",
        timeout_graceful_shutdown=int(_END_PATIENCE_S),
    )


class _DrainingServer(uvicorn.Server):
    """Takes nothing on for a while after the first signal, then ends. A second signal ends now."""

    def __init__(self, config: uvicorn.Config, engine: TeamEngine, drain_s: float) -> None:
        super().__init__(config)
        self._engine = engine
        self._drain_s = drain_s
        self._ends_at: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._engine.is_draining:
            self.should_exit = True
            return
        self._engine.is_draining = True
        self._ends_at = time.monotonic() + self._drain_s
        _log.info("draining: taking nothing on for %g s", self._drain_s)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for server in self.servers:
            for listening in server.sockets:
                host, port, *_ = listening.getsockname()
                _log.info("serving at %s:%d", host, port)

    async def on_tick(self, counter: int) -> bool:
        if self._ends_at is not None and time.monotonic() >= self._ends_at:
            _log.info("ending: waiting for the running fills")
            return True
        return await super().on_tick(counter)


def _log_preloaded(answer: Answer) -> None:
    if isinstance(answer, Failed):
        _log.error("%s", answer.message)
    else:
        _log.info("the model is loaded")


def _log_progress(stage: str, fraction: float | None) -> None:
    if fraction is None:
        _log.info("%s", stage)
