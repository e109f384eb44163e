"""A team's engine on Ray Serve: many processes, each with one loaded model, at one address.

``deploy/ray/serve.yaml`` names ``app`` and its settings. A user's requests carry the same key and
go to the same replica, which holds the user's contexts. Ray starts, watches and replaces replicas.
It is no requirement of this package: without it, only the settings can be read.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
from starlette.applications import Starlette

from intarsia.engine.config import Device, Dtype, EngineConfig
from intarsia.engine.ipc.messages import Failed
from intarsia.engine.service.model_slot import LoadFiller
from intarsia.engine.service.process import load_default_filler
from intarsia.engine.team.app import team_app
from intarsia.engine.team.quotas import TeamLimits
from intarsia.engine.team.serve import TeamError, TeamOptions, start, team_engine

try:
    from ray import serve
    from ray.serve.config import BackpressureConfig, RequestRouterConfig
except ModuleNotFoundError as error:
    if error.name != "ray":
        raise

SESSION_HEADER_VARIABLE = "RAY_SERVE_SESSION_ID_HEADER_KEY"
"""Ray reads here by which header it chooses a replica. Ray's own processes need it too."""

_ROUTER = "ray.serve.experimental.consistent_hash_router.ConsistentHashRouter"

_METRICS_TIMEOUT_S = 2.0

_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]


class ReplicaSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``args`` of the configuration may have, as the options of ``intarsia team serve``."""

    keys: str
    model: str = EngineConfig().model
    device: Device = "auto"
    dtype: Dtype = "auto"
    cache_tokens: _Count = 200_000
    user_cache_tokens: _Count = 8_192
    max_in_flight: _Count = 4
    per_minute: _Count = 300
    max_waiting: _Count = 64

    def config(self) -> EngineConfig:
        """Return the engine's settings. Raises ValueError."""
        return EngineConfig(
            model=self.model,
            device=self.device,
            dtype=self.dtype,
            cache_tokens=self.cache_tokens,
        )

    def options(self) -> TeamOptions:
        """Return whom to serve. Ray's own proxy or another one ends TLS."""
        limits = TeamLimits(
            max_in_flight=self.max_in_flight,
            per_minute=self.per_minute,
            max_waiting=self.max_waiting,
        )
        return TeamOptions(
            keys=Path(self.keys),
            is_behind_proxy=True,
            user_cache_tokens=self.user_cache_tokens,
            limits=limits,
        )


def app(args: dict[str, Any]) -> Any:
    """Return the application that Ray Serve deploys. Raises ValueError for its settings."""
    settings = settings_of(args)
    replica = serve.deployment(
        name="TeamEngine",
        num_replicas=2,
        max_ongoing_requests=32,
        max_queued_requests=64,
        backpressure_config=BackpressureConfig(status_code=503, retry_after_s=1),
        health_check_period_s=1,
        health_check_timeout_s=10,
        graceful_shutdown_timeout_s=20,
        request_router_config=RequestRouterConfig(request_router_class=_ROUTER),
    )
    return replica(serve.ingress()(TeamReplica)).bind(settings)


def settings_of(args: object) -> ReplicaSettings:
    """Return the settings of all replicas. Raises ValueError for a wrong or an unknown one."""
    settings = msgspec.convert(args, ReplicaSettings)
    settings.config()
    return settings


class TeamReplica:
    """One process with one model. Ray routes no request to it before the model is loaded."""

    def __init__(
        self, settings: ReplicaSettings, *, load_filler: LoadFiller = load_default_filler
    ) -> None:
        """Load the model. Raises TeamError, ModelError."""
        _require_affinity(os.environ)
        self._engine = team_engine(settings.config(), settings.options(), load_filler=load_filler)
        self._engine.metrics_of_all = self._metrics_of_all
        answer = start(self._engine).result()
        if isinstance(answer, Failed):
            raise TeamError(answer.message)

    def __serve_build_asgi_app__(self) -> Starlette:
        """Return what answers requests; Ray calls this once."""
        return team_app(self._engine)

    def check_health(self) -> None:
        """Raise TeamError once the model's thread has ended: Ray then starts another replica."""
        if not self._engine.worker.is_alive:
            raise TeamError("the model's thread has ended: see the log of this replica")

    async def metrics(self) -> tuple[str, bytes]:
        """Return the name of this replica, and its metrics."""
        return serve.get_replica_context().replica_tag, self._engine.metrics.as_text()

    async def _metrics_of_all(self) -> Mapping[str, bytes]:
        """Return the metrics of all replicas, by name, of those that answer in time."""
        context = serve.get_replica_context()
        handle = serve.get_deployment_handle(context.deployment, context.app_name)
        answers = handle.broadcast("metrics")
        rows = await answers.results_async(timeout_s=_METRICS_TIMEOUT_S, return_exceptions=True)
        return dict(row for row in rows if not isinstance(row, BaseException))


def _require_affinity(environment: Mapping[str, str]) -> None:
    """Raise TeamError where Ray would send the requests of a user to any replica."""
    if environment.get(SESSION_HEADER_VARIABLE, "").lower() != "authorization":
        raise TeamError(
            f"a user's requests would go to any replica: start Ray with "
            f"{SESSION_HEADER_VARIABLE}=authorization"
        )
