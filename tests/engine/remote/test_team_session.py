"""A team's engine as a remote: fills go there as they are, over real HTTP, and faults are told."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from remote_settings import RemoteSettings
from rule_filler import RuleFiller
from team_server import TeamServer, team_server
from toy_causal import save_toy, toy_causal_model, toy_fill, toy_filler
from toy_causal_fill import run_fill

from intarsia.engine.errors import Cancelled, RemoteError
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import ContextChunk, Fill, Prefetch, ProjectContext, Step
from intarsia.engine.remote.fill import team
from intarsia.engine.remote.filler import RemoteFiller
from intarsia.engine.team.quotas import TeamLimits

WORDS = "one two three four five"


@pytest.fixture
def seen() -> list[Fill]:
    return []


@pytest.fixture
def server(tmp_path: Path, seen: list[Fill]) -> Iterator[TeamServer]:
    def rule(request: Fill) -> str:
        seen.append(request)
        return WORDS

    with team_server(RuleFiller(rule), tmp_path, "ann") as running:
        yield running


def remote_to(server: TeamServer, settings: RemoteSettings) -> RemoteFiller:
    key_file = settings.path.with_name("key")
    key_file.write_text(server.key_of["ann"])
    key_file.chmod(0o600)
    return settings.filler(f"http://127.0.0.1:{server.port}", key_file=str(key_file))


def hole(**fields: object) -> Fill:
    return Fill(id=5, prefix="x = ", suffix="\n", **fields)


def test_a_fill_goes_there_as_it_is(server, settings, seen):
    project = ProjectContext(
        repository="r", path="a.py", chunks=(ContextChunk(path="b.py", text="b = 1\n"),)
    )
    asked = hole(
        given="o",
        stop=("\n",),
        max_open=1,
        num_candidates=3,
        seed=4,
        project=project,
        project_use="always",
        model="remote:there",
    )
    filled = run_fill(remote_to(server, settings), asked)
    assert (filled.id, filled.text) == (5, WORDS)
    assert filled.model == f"remote:there at 127.0.0.1:{server.port}"
    assert seen == [replace(asked, owner="ann", model=None)]


def test_the_text_is_that_of_the_same_model_here(tmp_path: Path, settings: RemoteSettings) -> None:
    model = save_toy(tmp_path / "model", toy_causal_model("qwen2"))
    here = toy_filler(model)
    with team_server(toy_filler(model), tmp_path, "ann") as server:
        there = remote_to(server, settings)
        for prefix in ("def f(", "def f(a", "def f(a):\n    return "):
            request = toy_fill(prefix, max_tokens=12, num_candidates=2)
            mine, theirs = run_fill(here, request), run_fill(there, request)
            assert theirs.text == mine.text
            sure = [[token.confidence for token in filled.tokens] for filled in (mine, theirs)]
            assert sure[1] == pytest.approx(sure[0], abs=1e-4)
            assert theirs.finish_reason == mine.finish_reason
            assert theirs.ms.total > 0


def test_steps_arrive_while_it_is_written(server: TeamServer, settings: RemoteSettings) -> None:
    steps: list[Step] = []
    filler = remote_to(server, settings)
    filled = run_fill(filler, hole(watch=True), on_step=steps.append)
    assert len(steps) > 3
    assert "".join(token.text for token in steps[-1].tokens) == filled.text == WORDS


def test_the_deadline_counts_from_the_users_request(server, settings, seen):
    filler = remote_to(server, settings)
    filler.open()
    run_fill(filler, hole(deadline_ms=60_000))
    (asked,) = seen
    assert asked.deadline_ms is not None and 0 < asked.deadline_ms <= 60_000


def test_a_cancelled_fill_ends_there_too(tmp_path: Path, settings: RemoteSettings) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def pass_(step: int) -> None:
        begun.set()
        assert may_end.wait(20)

    def checkpoint() -> None:
        if begun.is_set():
            raise Cancelled

    filler = RuleFiller(lambda _: WORDS, between_steps=pass_)
    with team_server(filler, tmp_path, "ann") as server:
        with pytest.raises(Cancelled):
            remote_to(server, settings).fill(hole(), FillControl(checkpoint=checkpoint))
        while server.engine.quotas.num_in_flight:
            assert not may_end.wait(0.005)
        may_end.set()
        server.wait_until_idle()


def test_a_place_is_read_ahead_there_for_the_user_of_the_key(tmp_path, settings):
    places: list[Prefetch] = []
    read = threading.Event()

    def prefetch(place: Prefetch, _: object) -> None:
        places.append(place)
        read.set()

    with team_server(RuleFiller(lambda _: WORDS, prefetch=prefetch), tmp_path, "ann") as server:
        filler = remote_to(server, settings)
        filler.open()
        filler.prepare(NO_CONTROL)
        place = Prefetch(prefix="x = ", suffix="\n", given="a", owner="ben")
        filler.prefetch(place, NO_CONTROL)
        assert read.wait(20)
    assert [(it.prefix, it.suffix, it.given, it.owner) for it in places] == [
        ("x = ", "\n", "a", "ann")
    ]


def refusal(filler: RemoteFiller, request: Fill | None = None) -> RemoteError:
    with pytest.raises(RemoteError) as caught:
        run_fill(filler, request or hole())
    return caught.value


def test_a_quota_is_told_with_the_time_to_wait(tmp_path: Path, settings: RemoteSettings) -> None:
    limits = TeamLimits(per_minute=60, burst=1)
    with team_server(RuleFiller(lambda _: WORDS), tmp_path, "ann", limits=limits) as server:
        filler = remote_to(server, settings)
        run_fill(filler, hole())
        error = refusal(filler)
    assert (error.code, error.retry_after_s is not None) == ("busy", True)
    assert "60 fills a minute" in str(error)


def test_a_bad_field_is_the_clients_own_fault(server: TeamServer, settings: RemoteSettings) -> None:
    filler = remote_to(server, settings)
    for watches in (False, True):
        with pytest.raises(ValueError, match="max_tokens"):
            run_fill(filler, hole(max_tokens=-1, watch=watches), on_step=lambda _: None)


def test_another_protocol_is_told(server, settings, monkeypatch):
    monkeypatch.setattr(team, "PROTOCOL_VERSION", 10_000)
    error = refusal(remote_to(server, settings))
    assert error.code == "model"
    assert "update the older one" in str(error)


def test_status_says_where_code_goes_and_what_is_lost(server, settings):
    filler = remote_to(server, settings)
    filler.open()
    assert filler.info.family == "intarsia"
    assert f"127.0.0.1:{server.port}" in filler.info.name
    assert any("can read the code" in note for note in filler.info.notes)
