"""Each fuzz target checks a few inputs, the same in every run, and what fails is found and kept.

`make fuzz` checks millions.
"""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from harness.byte_reader import ByteReader
from harness.job import Job
from harness.mutate import mutated
from harness.table import as_table
from harness.target import FOLDER, Target, load_target, target_names
from harness.watched import Current, Watched

NUM_INPUTS = {"grammar_limits": 20, "json_rpc": 100, "lsp_sessions": 60, "syntax": 200}
OTHERWISE = 300


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")  # rules such as [[a]
@pytest.mark.parametrize("name", target_names())
def test_a_target_takes_its_seeds_and_their_neighbours(name: str) -> None:
    target = load_target(name)
    for seed in target.seeds:
        target.check(seed)
    random = Random(name)
    for _ in range(NUM_INPUTS.get(name, OTHERWISE)):
        target.check(mutated(random, target.seeds, target.max_bytes))


def test_each_target_tells_what_it_watches() -> None:
    from worker import load_watched

    for name in target_names():
        assert load_watched(name) == list(load_target(name).watched)


def test_the_same_seed_makes_the_same_inputs() -> None:
    first, second = (
        [mutated(random, [b"seed", b"other"], 32) for _ in range(50)]
        for random in (Random("1 positions 0"), Random("1 positions 0"))
    )
    assert first == second
    assert len(set(first)) > 40
    assert max(map(len, first)) <= 32


def fails(data: bytes) -> None:
    """Fail in three ways, as the first byte says."""
    match data[:1]:
        case b"a":
            raise AssertionError("differs")
        case b"b":
            raise ValueError("broken")
        case b"c":
            while ByteReader(data).has_more:
                pass


TARGET = Target(about="fails", check=fails, seeds=[b"x"], watched=["none"], weight=1)


def test_what_fails_is_kept_once_with_its_input(tmp_path: Path) -> None:
    watched = Watched("mine", TARGET, Current(tmp_path / "current"), tmp_path / "findings")
    for data in (b"fine", b"a1", b"a2", b"b1"):
        watched.check(data)
    kept = {path.name.split(".")[1]: path for path in (tmp_path / "findings").glob("*.input")}
    assert {kind: path.read_bytes() for kind, path in kept.items()} == {
        "divergence": b"a1",
        "crash": b"b1",
    }
    assert "ValueError: broken" in kept["crash"].with_suffix(".txt").read_text()


def test_an_input_that_takes_too_long_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.watched.SLOW_S", 0.0)
    watched = Watched("mine", TARGET, Current(tmp_path / "current"), tmp_path / "findings")
    watched.check(b"fine")
    assert [path.name.split(".")[1] for path in (tmp_path / "findings").glob("*.input")] == ["hang"]


def job_of(folder: Path) -> Job:
    return Job(
        name="positions",
        engine="mutation",
        num_inputs=2_000,
        seed=1,
        python=sys.executable,
        folder=folder,
    )


def test_a_process_checks_its_inputs_and_they_are_counted(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    job.run()
    assert (job.num_done, job.num_deaths) == (2_000, 0)
    assert "2,000 inputs, 0 findings, seed 1" in as_table([job], [], 1)


CRASHING = """
import os, sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from harness.watched import Current
current = Current(Path({current!r}))
for number in range(1, 6):
    current.begin(number, b"input %d" % number)
os.abort()
"""


def test_the_last_input_of_a_process_that_dies_is_kept_and_another_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    current = tmp_path / "positions.mutation.current"
    script = tmp_path / "crashing.py"
    script.write_text(CRASHING.format(folder=str(FOLDER.parent), current=str(current)))
    monkeypatch.setattr("harness.job.WORKER", script)
    job = job_of(tmp_path)
    job.run()
    assert job.num_deaths == 10  # each process is replaced, up to a bound
    assert job.num_done == 50
    (kept,) = (tmp_path / "findings").glob("positions.death.*.input")
    assert kept.read_bytes() == b"input 5"


def test_a_process_that_begins_no_input_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "stuck.py"
    script.write_text("import threading\nthreading.Event().wait()\n")
    monkeypatch.setattr("harness.job.WORKER", script)
    monkeypatch.setattr("harness.job.STUCK_S", 0.1)
    monkeypatch.setattr("harness.job.POLL_S", 0.1)
    job = job_of(tmp_path)
    job.run()
    assert job.problems
    assert len(list((tmp_path / "findings").glob("positions.hang.*.input"))) == 1


def test_a_finding_is_checked_again_by_one_command(tmp_path: Path) -> None:
    kept = tmp_path / "positions.crash.0123456789ab.input"
    kept.write_bytes(load_target("positions").seeds[0])
    command = [sys.executable, str(FOLDER.parent / "replay.py"), str(kept)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "nothing is wrong with it" in done.stdout
