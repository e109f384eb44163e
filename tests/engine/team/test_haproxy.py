"""Two engines behind HAProxy, with the configuration that we ship; one is killed under load."""

import http.client
import json
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from haproxy_team import HaproxyTeam, haproxy_team
from toy_causal import toy_fill
from toy_causal_fill import run_fill

from intarsia.engine.errors import ModelError
from intarsia.engine.remote.filler import RemoteFiller
from intarsia.engine.remote.settings.remotes import find_remote

NUM_USERS = 8
WAIT_S = 120

pytestmark = pytest.mark.skipif(shutil.which("haproxy") is None, reason="needs haproxy")


@pytest.fixture
def team(tmp_path: Path) -> Iterator[HaproxyTeam]:
    with haproxy_team(tmp_path, num_users=NUM_USERS) as running:
        yield running


@pytest.fixture
def remotes(
    team: HaproxyTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[RemoteFiller]:
    """A remote for each user, by the proxy."""
    folder = tmp_path / "config"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(folder))
    lines = []
    for number, key in enumerate(team.keys):
        path = folder / f"key{number}"
        path.write_text(key)
        path.chmod(0o600)
        url = f"http://127.0.0.1:{team.port}"
        lines.append(f"[user{number}]\nurl = '{url}'\nkey_file = '{path}'\n")
    (folder / "remotes.toml").write_text("".join(lines))
    (folder / "remotes.toml").chmod(0o600)
    found = [find_remote(f"user{number}") for number in range(NUM_USERS)]
    return [RemoteFiller(remote, max_context_tokens=2_048) for remote in found]


def test_a_user_stays_on_one_engine(remotes: list[RemoteFiller]) -> None:
    request = toy_fill("def f(value):\n" * 9, max_tokens=4)
    for filler in remotes:
        num_reused = [run_fill(filler, request).num_reused for _ in range(3)]
        assert num_reused[0] == 0 and min(num_reused[1:]) > 0


def test_no_user_sees_that_an_engine_was_killed(
    team: HaproxyTeam, remotes: list[RemoteFiller]
) -> None:
    stop = threading.Event()
    texts: list[str] = []
    faults: list[Exception] = []

    def type_on(filler: RemoteFiller) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            prefix, watches = f"def f{number}(a):\n    return ", number % 2 == 0
            try:
                request = toy_fill(prefix, max_tokens=6, watch=watches)
                texts.append(run_fill(filler, request, on_step=lambda _: None).text)
            except ModelError as error:
                faults.append(error)

    threads = [threading.Thread(target=type_on, args=(filler,)) for filler in remotes]
    for thread in threads:
        thread.start()
    try:
        wait_for_more(texts, 3 * NUM_USERS)
        team.processes[0].send_signal(signal.SIGKILL)
        wait_for_more(texts, 10 * NUM_USERS)
    finally:
        stop.set()
        for thread in threads:
            thread.join(WAIT_S)
    assert faults == []


def wait_for_more(texts: list[str], count: int) -> None:
    end, target = time.monotonic() + WAIT_S, len(texts) + count
    while len(texts) < target:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_large_request_passes(team: HaproxyTeam) -> None:
    body = json.dumps({"id": 1, "prefix": "x = 1\n" * 40_000, "suffix": "", "max_tokens": 2})
    with closing(http.client.HTTPConnection("127.0.0.1", team.port, timeout=WAIT_S)) as connection:
        key = {"Authorization": f"Bearer {team.keys[0]}"}
        connection.request("POST", "/v1/fill", body, key)
        assert connection.getresponse().status == 200
