"""A team's engine on Ray Serve with replicas that can be made to lose their model's thread.

``python mortal_team.py ADDRESS`` does that to all replicas of the Ray at this address.
"""

import sys
from typing import Any
from unittest.mock import patch

from intarsia.engine.team import on_ray


class MortalReplica(on_ray.TeamReplica):
    """A replica as users have it, with one method more."""

    def end_model(self) -> bool:
        return self._engine.worker.stop(20)


def app(args: dict[str, Any]) -> Any:
    with patch.object(on_ray, "TeamReplica", MortalReplica):
        return on_ray.app(args)


if __name__ == "__main__":
    import ray
    from ray import serve

    ray.init(address=sys.argv[1], log_to_driver=False)
    handle = serve.get_deployment_handle("TeamEngine", "team")
    assert all(handle.broadcast("end_model").results(timeout_s=60))
