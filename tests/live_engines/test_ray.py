"""A team's engine on Ray Serve with two replicas of the default model: what users see of it.

`make build/servers/ray/.ready` installs Ray.
"""

import http.client
import json
import statistics
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import mortal_team
import pytest
from killed_replica import kill_one_replica, remotes_of, small_hole, write_remotes
from ray_team import RAY, RayTeam, ray_team
from real_cancel import cancel_lag_ms, long_fill
from toy_causal import save_toy, toy_causal_model

from intarsia.engine.fill_control import FillControl
from intarsia.engine.remote.filler import RemoteFiller

NUM_USERS = 20
WAIT_S = 240.0

pytestmark = [
    pytest.mark.skipif(not RAY.exists(), reason="Ray is not installed: make engines"),
    pytest.mark.timeout(900),  # two models are loaded at once
]


@pytest.fixture(scope="module")
def team() -> Iterator[RayTeam]:
    with ray_team(num_users=NUM_USERS, per_minute=100_000, max_waiting=24) as running:
        running.wait_until_ready(2)
        yield running


@pytest.fixture
def remotes(team: RayTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[RemoteFiller]:
    """A remote for each user."""
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(tmp_path / "config"))
    write_remotes(team, tmp_path / "config")
    return remotes_of(team)


def test_a_users_requests_go_to_one_replica_and_users_are_spread(
    team: RayTeam, remotes: list[RemoteFiller]
) -> None:
    for filler in remotes:
        filled = [filler.fill(small_hole(), FillControl()) for _ in range(3)]
        assert {one.text for one in filled} == {"a + b"}
        assert filled[0].num_reused == 0
        assert all(one.num_prefilled == 0 and one.num_reused > 10 for one in filled[1:])
    rows = list(team.metrics().values())
    assert len(rows) == 2
    assert all(row["intarsia_fills_total"] >= 3 for row in rows)
    assert sum(row["intarsia_users_with_contexts"] for row in rows) == NUM_USERS
    assert all(row["intarsia_users_with_contexts"] >= 2 for row in rows)


def test_steps_arrive_while_the_fill_runs(team: RayTeam) -> None:
    times: list[float] = []
    answer = team.request("POST", "/v1/fill", team.keys[0], long_fill(max_tokens=24))
    while line := answer.readline():
        if line.startswith(b"event:"):
            times.append(time.monotonic())
        elif line.startswith(b"data:"):
            last = json.loads(line[5:])
    assert last["type"] == "filled"
    assert len(times) > 8
    took_s = times[-1] - times[0]
    assert took_s > 0.5 * last["ms"]["denoise"] / 1000
    gaps = [after - before for before, after in pairwise(times)]
    assert max(gaps) < 0.5 * took_s  # not in one heap


def test_closing_the_connection_ends_the_fill_within_a_pass(team: RayTeam) -> None:
    trials = [cancel_lag_ms(team.port, team.keys[0], team.metrics) for _ in range(7)]
    lag = statistics.median(trial.lag_ms for trial in trials)
    assert lag <= max(trial.pass_ms for trial in trials) + 50


def statuses_of(team: RayTeam, keys: list[str]) -> list[tuple[int, str | None, str]]:
    """Return status, Retry-After and reason of a long fill for each of the keys, all at once."""
    answers: list[tuple[int, str | None, str]] = []

    def ask(key: str) -> None:
        body = {**long_fill(max_tokens=6), "watch": False}
        answer = team.request("POST", "/v1/fill", key, body)
        message = json.loads(answer.read()).get("message", "")
        answers.append((answer.status, answer.headers["retry-after"], message))

    threads = [threading.Thread(target=ask, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert len(answers) == len(keys), team.log()
    return answers


def test_what_is_refused_has_a_reason_and_a_time_to_wait(team: RayTeam) -> None:
    own = statuses_of(team, [team.keys[3]] * 6)
    assert {status for status, *_ in own} == {200, 429}
    for status, retry_after, message in own:
        assert status == 200 or (retry_after == "1" and "4 fills of yours run" in message)
    all_users = statuses_of(team, team.keys * 4)
    refused = [row for row in all_users if row[0] != 200]
    assert refused and {row[0] for row in refused} == {503}
    assert all(row[1] == "1" and "the engine is busy" in row[2] for row in refused)


def test_no_user_sees_that_a_replica_was_killed(team: RayTeam, remotes: list[RemoteFiller]) -> None:
    before = set(team.metrics())
    killing = kill_one_replica(team, remotes)
    assert killing.faults == []
    assert 0 < len(killing.cut_off) <= NUM_USERS
    assert all(one.began_at <= killing.killed_at <= one.ended_at for one in killing.cut_off)
    assert len(set(team.metrics()) - before) == 1


def test_the_logs_have_no_code_and_no_keys(team: RayTeam) -> None:
    paths = [path for path in team.folder.rglob("*") if path.is_file() and is_log(path)]
    assert any("replica_team" in path.name for path in paths)
    for path in paths:
        text = path.read_text(errors="replace")
        assert "Return the sum" not in text and "each with its number" not in text, path
        assert not any(key in text for key in team.keys), path


def is_log(path: Path) -> bool:
    return path.suffix in (".log", ".err", ".out")


def test_a_replica_that_is_taken_away_ends_its_fills(team: RayTeam) -> None:
    answers = [
        team.request("POST", "/v1/fill", key, long_fill(max_tokens=16)) for key in team.keys[:6]
    ]
    running = [row["intarsia_fills_in_flight"] for row in team.metrics().values()]
    assert sum(running) == 6 and min(running) > 0
    team.configure({"num_replicas": 1})
    assert all(b"event: filled" in answer.read() for answer in answers)
    end = time.monotonic() + WAIT_S
    while len(team.metrics()) > 1 or len(team.replicas()) > 1:
        assert time.monotonic() < end
        time.sleep(0.2)


def test_a_replica_that_lost_its_models_thread_is_replaced(tmp_path: Path) -> None:
    model = save_toy(tmp_path / "model", toy_causal_model("qwen2"))
    with ray_team(
        num_users=1,
        deployment={"num_replicas": 1},
        import_path="mortal_team:app",
        model=str(model),
        dtype="float32",
    ) as team:
        [before] = team.metrics()
        team.run(Path(mortal_team.__file__))
        end = time.monotonic() + WAIT_S
        while before in (now := replicas_that_serve(team)) or not now:
            assert time.monotonic() < end, team.log()
            time.sleep(0.2)
        body = {"id": 1, "prefix": "x = ", "suffix": "", "max_tokens": 4}
        assert team.request("POST", "/v1/fill", team.keys[0], body).status == 200


def replicas_that_serve(team: RayTeam) -> set[str]:
    """Return the names of the replicas, none while there is none."""
    try:
        return set(team.metrics())
    except (AssertionError, OSError, http.client.HTTPException):
        return set()
