"""A team's engine on Ray Serve: many replicas of the same application behind one address.

A user's requests go to the same replica, as these carry the same key. Start it with
``serve run deploy/ray/serve_team.py:app`` in an environment with ``intarsia`` and ``ray[serve]``.
The environment names the file of keys (INTARSIA_TEAM_KEYS), the model (INTARSIA_TEAM_MODEL) and
the number of replicas (INTARSIA_TEAM_REPLICAS). A proxy ends TLS.
"""

import os
from pathlib import Path

os.environ.setdefault("RAY_SERVE_SESSION_ID_HEADER_KEY", "authorization")

from ray import serve
from ray.serve.config import BackpressureConfig, RequestRouterConfig
from starlette.applications import Starlette

from intarsia.engine.config import EngineConfig
from intarsia.engine.team.app import team_app
from intarsia.engine.team.serve import TeamOptions, start, team_engine

ROUTER = "ray.serve.experimental.consistent_hash_router.ConsistentHashRouter"


def application() -> Starlette:
    """Return the application of a replica; its model is loaded in a thread."""
    model = os.environ.get("INTARSIA_TEAM_MODEL", EngineConfig().model)
    config = EngineConfig(model=model, stored_bytes=0, cache_tokens=200_000)
    keys = Path(os.environ["INTARSIA_TEAM_KEYS"])
    engine = team_engine(config, TeamOptions(keys=keys, is_behind_proxy=True))
    start(engine)
    return team_app(engine)


@serve.deployment(
    num_replicas=int(os.environ.get("INTARSIA_TEAM_REPLICAS", "2")),
    max_ongoing_requests=64,
    max_queued_requests=64,
    backpressure_config=BackpressureConfig(status_code=429, retry_after_s=1),
    health_check_period_s=1,
    health_check_timeout_s=10,
    graceful_shutdown_timeout_s=20,
    request_router_config=RequestRouterConfig(request_router_class=ROUTER),
)
@serve.ingress(application)
class TeamEngineReplica:
    """One process with one model."""


app = TeamEngineReplica.bind()
