"""Kill one replica of a team's engine while users type, and note what they see of it."""

import itertools
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from ray_team import RayTeam

from intarsia.engine.errors import ModelError, RemoteError
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.engine.remote.fill.team_session import TeamSession
from intarsia.engine.remote.filler import RemoteFiller
from intarsia.engine.remote.settings.remotes import find_remote

WAIT_S = 120.0


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
        end, target = time.monotonic() + WAIT_S, len(self._texts) + count
        while len(self._texts) < target:
            assert time.monotonic() < end, self.faults
            time.sleep(0.02)

    def _end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(WAIT_S)

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
