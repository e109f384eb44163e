"""A soak's verdict finds stuck requests, missing reasons, leaks, growth, and slower answers."""

import asyncio
import itertools
import json
from pathlib import Path

import pytest
from faults.ground import Ground
from soak import asks as soak_asks
from soak.asks import Answer, Asks
from soak.measures import Sample, Samples
from soak.open_text import OpenText
from soak.report import write_report
from soak.schedule import Plan, schedule
from soak.soak_client import SoakClient
from soak.soak_faults import FAULTS
from soak.soaked import THREADS_OF_POOL, Soaked, at_rest
from soak.stage import RULE_ROLES
from soak.verdict import criteria

HOUR = Plan()
MIB = 1 << 20


@pytest.fixture
def soaked(bare_ground: Ground) -> Soaked:
    """An hour in which nothing happened."""
    asks = Asks()
    return Soaked(
        plan=HOUR,
        asks=asks,
        samples=Samples(ground=bare_ground, roles=RULE_ROLES),
        clients=[SoakClient(0, bare_ground, asks, (), has_rules=True)],
        ended_s=HOUR.seconds,
    )


def failing(soaked: Soaked) -> list[str]:
    return [it.name for it in criteria(soaked) if not it.holds]


def use_memory(soaked: Soaked, per_hour: int, noise: int = MIB) -> None:
    """Sample a server of 100 MiB, with this growth and noise up and down."""
    swings = itertools.cycle((0, noise, -noise))
    for second in range(0, 3600, 10):
        rss = 100 * MIB + per_hour * second // 3600 + next(swings)
        soaked.samples.taken.append(
            Sample(at_s=second, role="server", pid=1, rss_bytes=rss, num_files=9, num_threads=3)
        )


def answer_at(soaked: Soaked, second: float, took_s: float) -> None:
    soaked.asks.answers += [
        Answer(client=0, asked_s=second, took_s=took_s, outcome="text") for _ in range(10)
    ]


def test_nothing_is_found_where_all_is_well(soaked: Soaked) -> None:
    use_memory(soaked, per_hour=0)
    answer_at(soaked, 10, 0.10)
    answer_at(soaked, 3_590, 0.11)
    assert failing(soaked) == []


def test_memory_that_grows_is_found_in_noise(soaked: Soaked) -> None:
    use_memory(soaked, per_hour=10 * MIB)
    assert "memory of a process: server" in failing(soaked)


def test_a_slower_end_is_found(soaked: Soaked) -> None:
    answer_at(soaked, 10, 0.10)
    answer_at(soaked, 3_590, 0.13)
    assert failing(soaked) == ["p99 of the last tenth / of the first"]


def test_an_open_file_more_is_found(soaked: Soaked) -> None:
    use_memory(soaked, per_hour=0)
    (sample,) = soaked.samples.taken[:1]
    soaked.rest_before = at_rest([sample])
    soaked.rest_after = {**at_rest([sample]), "server": (1, sample.num_files + 1, 3)}
    assert failing(soaked) == ["processes, open files or threads more than before"]


def test_threads_above_those_of_a_pool_are_found(soaked: Soaked) -> None:
    soaked.rest_before = {"server": (1, 9, 3)}
    soaked.rest_after = {"server": (1, 9, 3 + THREADS_OF_POOL)}
    assert failing(soaked) == []
    soaked.rest_after = {"server": (1, 9, 4 + THREADS_OF_POOL)}
    assert failing(soaked) == ["processes, open files or threads more than before"]


async def test_a_request_without_an_answer_is_found(
    soaked: Soaked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soak_asks, "STUCK_AFTER_S", -1)
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    asking = asyncio.create_task(soaked.asks.ask(0, never))
    await asyncio.sleep(0)
    soaked.asks.find_stuck(frozenset())
    assert await asking is None
    assert failing(soaked) == ["stuck requests"]


def test_an_empty_answer_without_a_reason_is_found(soaked: Soaked) -> None:
    soaked.asks.answers.append(Answer(client=0, asked_s=1, took_s=1, outcome="nothing"))
    assert failing(soaked) == ["empty answers without a reason"]


def test_each_fault_happens_and_the_last_tenth_repeats_the_first() -> None:
    drawn = schedule(list(FAULTS), HOUR)
    assert len(drawn) == 60
    assert set(drawn) == set(FAULTS)
    assert drawn[:6] == drawn[-6:]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_an_undone_change_gives_the_text_before(encoding: str) -> None:
    text = OpenText("file:///a.py", "é = '𝄞'\nb = 1\n", encoding)
    before = text.text
    text.edit((1, 5, "𝄞𝄞"), (0, 0, "x"))
    for _ in range(2):
        text.undo()
    assert text.text == before
    assert all(text.offset(text.position(at)) == at for at in range(len(before)))


def test_the_report_is_text_and_json(soaked: Soaked, tmp_path: Path) -> None:
    use_memory(soaked, per_hour=10 * MIB)
    soaked.happened.append((0, "engine_killed"))
    answer_at(soaked, 10, 0.10)
    write_report(soaked, tmp_path)
    assert "engine_killed | 10 | 100 | 100" in (tmp_path / "report.md").read_text()
    record = json.loads((tmp_path / "report.json").read_text())
    assert record["outcomes"] == {"text": 10}
