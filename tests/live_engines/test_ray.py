"""A team's engine on Ray Serve with two replicas of the default model: what users see of it.

`make build/servers/ray/.ready` installs Ray.
"""

import http.client
import itertools
import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import mortal_team
import pytest
from ray_team import RAY, RayTeam, ray_team
from toy_causal import save_toy, toy_causal_model

from intarsia.engine.errors import ModelError, RemoteError
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.engine.remote.fill.team_session import TeamSession
from intarsia.engine.remote.filler import RemoteFiller
from intarsia.engine.remote.settings.remotes import find_remote

_DOCSTRING = '"""Return the lines of a file, each with its number."""'
_PREFIX = f"import os\n\n\ndef read(path):\n    {_DOCSTRING}\n"

_CANCELLED_AT = "intarsia_last_cancel_timestamp_seconds"

Metrics = Callable[[], Mapping[str, Mapping[str, float]]]
"""Returns the metrics of each engine, by its name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CancelledFill:
    """One cancelled fill: a pass of it, and the time from the close to the model's last work."""

    pass_ms: float
    lag_ms: float


def long_fill(*, max_tokens: int) -> dict[str, object]:
    return {
        "id": 1,
        "prefix": _PREFIX,
        "suffix": "\n\nprint(read('a'))\n",
        "max_tokens": max_tokens,
        "watch": True,
        "fresh": True,
        "decoding": "autoregressive",
    }


def cancel_lag_ms(port: int, key: str, metrics: Metrics) -> CancelledFill:
    """Begin a fill, close its connection after four passes, and wait until its model has left it.

    Both clocks are of one machine. The longest pass that was seen counts.
    """
    before = _cancelled_at(metrics)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        headers = {"Authorization": f"Bearer {key}"}
        connection.request("POST", "/v1/fill", json.dumps(long_fill(max_tokens=200)), headers)
        answer = connection.getresponse()
        times: list[float] = []
        while len(times) < 5:
            line = answer.readline()
            assert line, "the fill has ended already"
            if line.startswith(b"event: step"):
                times.append(time.time())
        answer.close()
        connection.close()
        closed_at = time.time()
    end = closed_at + 30
    while (cancelled_at := _cancelled_at(metrics)) <= before:
        assert time.time() < end, "the fill was not cancelled"
        time.sleep(0.05)
    gaps = [after - before for before, after in pairwise(times)]
    return CancelledFill(pass_ms=1000 * max(gaps), lag_ms=1000 * (cancelled_at - closed_at))


def _cancelled_at(metrics: Metrics) -> float:
    return max(row[_CANCELLED_AT] for row in metrics().values())


TYPING_WAIT_S = 120.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One request. Times are of time.monotonic()."""

    began_at: float
    ended_at: float
    is_cut_off: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Killing:
    """What was seen. ``faults`` are what users saw, ``attempts`` what their clients tried."""

    killed_at: float
    replaced_after_s: float
    attempts: Sequence[Attempt]
    faults: Sequence[Exception]

    @property
    def cut_off(self) -> list[Attempt]:
        """The requests that were cut off, and sent again."""
        return [attempt for attempt in self.attempts if attempt.is_cut_off]


def write_remotes(team: RayTeam, folder: Path) -> None:
    """Write a remotes.toml with a remote for each user into a new folder."""
    folder.mkdir(mode=0o700)
    lines = []
    for number, key in enumerate(team.keys):
        path = folder / f"key{number}"
        path.write_text(key)
        path.chmod(0o600)
        lines.append(f"[user{number}]\nurl = 'http://127.0.0.1:{team.port}'\nkey_file = '{path}'\n")
    (folder / "remotes.toml").write_text("".join(lines))
    (folder / "remotes.toml").chmod(0o600)


def remotes_of(team: RayTeam) -> list[RemoteFiller]:
    """Return the remote of each user. INTARSIA_CONFIG_DIR names the folder with the settings."""
    found = [find_remote(f"user{number}") for number in range(len(team.keys))]
    return [RemoteFiller(remote, max_context_tokens=2_048) for remote in found]


def small_hole(number: int = 0) -> Fill:
    """Return one of many holes that take a few passes."""
    prefix = f'def add_{number}(a, b):\n    """Return the sum."""\n    return '
    return Fill(id=1, prefix=prefix, suffix="\n", stop=("\n",), max_tokens=12)


def kill_one_replica(team: RayTeam, remotes: Sequence[RemoteFiller]) -> Killing:
    """Let all users type on, kill a replica, and wait until another one serves."""
    typing = _Typing(remotes)
    with typing.running():
        typing.wait_for_more(2 * len(remotes))
        killed_at = time.monotonic()
        team.replicas()[0].kill()
        typing.wait_for_more(4 * len(remotes))
    team.wait_until_ready(2)
    return Killing(
        killed_at=killed_at,
        replaced_after_s=time.monotonic() - killed_at,
        attempts=typing.attempts,
        faults=typing.faults,
    )


class _Typing:
    """Users who fill one hole after another, each on a thread of its own."""

    def __init__(self, remotes: Sequence[RemoteFiller]) -> None:
        self.attempts: list[Attempt] = []
        self.faults: list[Exception] = []
        self._texts: list[str] = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._type, args=[filler]) for filler in remotes]

    def running(self) -> ExitStack:
        """Return a block in which the users type."""
        stack = ExitStack()
        stack.enter_context(patch.object(TeamSession, "fill", self._noted(TeamSession.fill)))
        stack.callback(self._end)
        for thread in self._threads:
            thread.start()
        return stack

    def wait_for_more(self, count: int) -> None:
        end, target = time.monotonic() + TYPING_WAIT_S, len(self._texts) + count
        while len(self._texts) < target:
            assert time.monotonic() < end, self.faults
            time.sleep(0.02)

    def _end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(TYPING_WAIT_S)

    def _type(self, filler: RemoteFiller) -> None:
        for number in itertools.count():
            if self._stop.is_set():
                return
            control = FillControl(on_step=(lambda _: None) if number % 2 else None)
            try:
                self._texts.append(filler.fill(small_hole(number), control).text)
            except ModelError as error:
                self.faults.append(error)

    def _noted(self, fill):  # type: ignore[no-untyped-def]
        def noted(session: TeamSession, request: Fill, control: FillControl) -> Filled:
            began_at, is_cut_off = time.monotonic(), False
            try:
                return fill(session, request, control)
            except RemoteError as error:
                is_cut_off = error.is_cut_off
                raise
            finally:
                attempt = Attempt(
                    began_at=began_at, ended_at=time.monotonic(), is_cut_off=is_cut_off
                )
                self.attempts.append(attempt)

        return noted


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
