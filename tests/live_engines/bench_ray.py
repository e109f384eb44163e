"""Measure Ray Serve's share: ``make bench-ray``, or ``make bench-ray BENCH_OPTIONS=--json``.

The same short fill is sent to a replica through Ray's proxy, and to `intarsia team serve`, in
alternating pairs on one machine. Each waits while the other works, and the model part is nearly
nothing: all is in the cache. Then fills are cancelled, and a replica is killed under 20 users.
"""

import argparse
import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from killed_replica import kill_one_replica, remotes_of, write_remotes
from prometheus_client.parser import text_string_to_metric_families
from ray_team import RayTeam, ray_team
from real_cancel import cancel_lag_ms

from intarsia.engine.config import EngineConfig

NUM_USERS = 20

Ask = Callable[[], tuple[float, float]]
"""Sends one fill; returns the milliseconds of the whole request, and those in the engine."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200, help="of fills (default: 200)")
    parser.add_argument("--cancels", type=int, default=20, help="of each way (default: 20)")
    parser.add_argument("--model", default=EngineConfig().model, help="(default: %(default)s)")
    parser.add_argument("--dtype", default="auto", help="(default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # Ray's processes are ended first
    model = {"model": options.model, "dtype": options.dtype}
    with ray_team(num_users=NUM_USERS, per_minute=100_000, **model) as team:
        team.wait_until_ready(2)
        with direct_server(team, **model) as port:
            figures = measure_requests(team, port, options.pairs)
            figures |= measure_cancels(team, port, options.cancels)
        figures |= measure_killing(team)
    figures["load"] = round(os.getloadavg()[0], 1)
    lines = [f"{name:48} {value:>8}" for name, value in figures.items()]
    sys.stdout.write((json.dumps(figures) if options.json else "\n".join(lines)) + "\n")


def measure_requests(team: RayTeam, port: int, num_pairs: int) -> dict[str, float]:
    """Return milliseconds of requests, and what is left of them without the engine's own time."""
    ways = {"Ray": asking(team.port, team.keys[0]), "direct": asking(port, team.keys[0])}
    for ask in ways.values():
        for _ in range(20):
            ask()
    rows: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for number in range(num_pairs):
        for way in sorted(ways, reverse=bool(number % 2)):
            rows[way].append(ways[way]())
    figures: dict[str, float] = {}
    for way, pairs in rows.items():
        whole, outside = [a for a, _ in pairs], [a - b for a, b in pairs]
        figures |= spread(f"request, {way}, ms", whole)
        figures |= spread(f"request outside the engine, {way}, ms", outside)
    name = "request outside the engine, {}, ms, p50"
    overhead = figures[name.format("Ray")] - figures[name.format("direct")]
    return figures | {"overhead of Ray, ms, p50 (target 15)": round(overhead, 1)}


def measure_cancels(team: RayTeam, port: int, count: int) -> dict[str, float]:
    """Return milliseconds from closing a connection to the end of the model's work on its fill."""
    key = team.keys[0]
    figures: dict[str, float] = {}
    for way, at, metrics in (
        ("Ray", team.port, team.metrics),
        ("direct", port, lambda: metrics_at(port, key)),
    ):
        trials = [cancel_lag_ms(at, key, metrics) for _ in range(count)]
        figures |= spread(f"cancel, {way}, ms", [trial.lag_ms for trial in trials])
        figures |= spread(f"longest pass, {way}, ms", [trial.pass_ms for trial in trials])
    return figures


def measure_killing(team: RayTeam) -> dict[str, float]:
    """Return what became of the requests while a replica was killed, and when the next served."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["INTARSIA_CONFIG_DIR"] = str(Path(folder) / "config")
        write_remotes(team, Path(folder) / "config")
        killing = kill_one_replica(team, remotes_of(team))
    return {
        "kill: requests": len(killing.attempts),
        "kill: requests cut off and sent again": len(killing.cut_off),
        "kill: faults that users saw": len(killing.faults),
        "kill: next replica serves after, s": round(killing.replaced_after_s, 1),
    }


def spread(name: str, values: list[float]) -> dict[str, float]:
    """Return median and 95th percentile."""
    p95 = statistics.quantiles(values, n=20)[-1]
    return {f"{name}, p50": round(statistics.median(values), 1), f"{name}, p95": round(p95, 1)}


def asking(port: int, key: str) -> Ask:
    """Return what sends the same fill again and again, each on a connection of its own."""
    prefix = 'def add(a, b):\n    """Return the sum."""\n    return '
    body = json.dumps({"id": 1, "prefix": prefix, "suffix": "\n", "stop": ["\n"]})

    def ask() -> tuple[float, float]:
        began = time.perf_counter()
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("POST", "/v1/fill", body, {"Authorization": f"Bearer {key}"})
            answer = json.loads(connection.getresponse().read())
        return 1000 * (time.perf_counter() - began), answer["ms"]["total"]

    return ask


def metrics_at(port: int, key: str) -> dict[str, dict[str, float]]:
    """Return the samples without labels of one engine."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {key}"})
        text = connection.getresponse().read().decode()
    families = text_string_to_metric_families(text)
    samples = [sample for family in families for sample in family.samples if not sample.labels]
    return {"direct": {sample.name: sample.value for sample in samples}}


@contextmanager
def direct_server(team: RayTeam, *, model: str, dtype: str) -> Iterator[int]:
    """Serve the same application by `intarsia team serve` at a port, with one thread as Ray's."""
    keys = team.folder / "team.keys"
    command = [sys.executable, "-P", "-m", "intarsia.cli", "team", "serve", "--keys", str(keys)]
    options = ["--port", "0", "--per-minute", "100000", "--drain", "0"]
    options += ["--model", model, "--dtype", dtype]
    process = subprocess.Popen(
        [*command, *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        port = 0
        assert process.stderr is not None
        for line in process.stderr:
            if "serving at" in line:
                port = int(line.rpartition(":")[2])
            if port and "model is loaded" in line:
                break
        yield port
    finally:
        process.terminate()
        process.communicate()


if __name__ == "__main__":
    main()
