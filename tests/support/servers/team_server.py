"""Run the HTTP interface of a team's engine in the test's process, at a real port."""

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from in_process_engine import always

from intarsia.engine.config import EngineConfig
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Preload
from intarsia.engine.service.job import Job
from intarsia.engine.service.model_slot import ModelSlot
from intarsia.engine.service.worker import Worker
from intarsia.engine.team.app import TeamEngine
from intarsia.engine.team.keys import TeamKeys, line_of, new_key
from intarsia.engine.team.metrics import TeamMetrics
from intarsia.engine.team.quotas import Quotas, TeamLimits
from intarsia.engine.team.serve import OwnersFiller, TeamOptions, http_config

MODEL = "rules"


@dataclass(kw_only=True, slots=True)
class TeamServer:
    """A running server. ``key_of`` has the key of each user."""

    port: int
    engine: TeamEngine
    key_of: Mapping[str, str]

    def request(
        self, method: str, path: str, body: bytes | str | None = None, **headers: str
    ) -> http.client.HTTPResponse:
        """Return the answer, with its body unread."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        return connection.getresponse()

    def fill(self, user: str, **fields: Any) -> tuple[int, dict[str, Any]]:
        body = json.dumps({"id": 1, "prefix": "x = ", "suffix": "", **fields})
        answer = self.request("POST", "/v1/fill", body, **self.bearer(user))
        return answer.status, json.loads(answer.read())

    def bearer(self, user: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key_of[user]}"}

    def wait_until_idle(self) -> None:
        end = time.monotonic() + 20
        while self.engine.worker.state == "filling" or self.engine.worker.num_waiting:
            assert time.monotonic() < end
            time.sleep(0.005)


@contextmanager
def team_server(
    filler: Filler, folder: Path, *users: str, limits: TeamLimits | None = None
) -> Iterator[TeamServer]:
    """Serve a filler to these users until the block ends."""
    key_of = {user: new_key() for user in users}
    path = folder / "keys"
    path.write_text("".join(line_of(user, key) for user, key in key_of.items()))
    path.chmod(0o600)
    owners = OwnersFiller(filler, of_user=1_000, of_all=4_000)
    worker = Worker(ModelSlot(EngineConfig(model=MODEL), always(owners), lambda *_: None))
    quotas = Quotas(limits or TeamLimits())
    engine = TeamEngine(
        worker=worker,
        model=MODEL,
        keys=TeamKeys(path),
        quotas=quotas,
        metrics=TeamMetrics({"fills_in_flight": lambda: quotas.num_in_flight}),
    )
    worker.start()
    loaded = threading.Event()
    worker.submit(
        Job(request=Preload(id=0), client="", received_at=0.0, deliver=lambda _: loaded.set())
    )
    assert loaded.wait(20)
    server = uvicorn.Server(http_config(engine, TeamOptions(keys=path, port=0)))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield TeamServer(port=port, engine=engine, key_of=key_of)
    finally:
        server.should_exit = True
        thread.join(20)
        assert worker.stop(20)
