"""``intarsia status``, ``stop`` and ``pull``, with an engine and without."""

import asyncio
import json
import re
from pathlib import Path

import psutil
import pytest
from command_line import run

from intarsia.cli.errors import ExitCode
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import AheadReport
from intarsia.engine.model_store.catalog import CATALOG
from intarsia.lsp.statistics import Counts, LanguageCounts, add_counts, statistics_file


def test_status_without_an_engine_has_its_own_exit_code():
    result = run("status")
    assert result.exit_code == ExitCode.ENGINE
    assert result.stderr.startswith("intarsia: the engine is not running")
    assert json.loads(run("status", "--json").stdout)["exit_code"] == ExitCode.ENGINE


def test_status_says_in_plain_words_what_the_engine_does(start_engine):
    start_engine()
    result = run("status")
    assert result.exit_code == 0, result.stderr
    assert "none loaded yet" in result.stdout
    assert "0 besides this command" in result.stdout
    status = json.loads(run("status", "--json").stdout)
    assert (status["state"], status["pid"] > 0) == ("idle", True)


async def report(*reports: AheadReport) -> None:
    """Send reports as a client, and wait until the engine has them."""
    async with EngineClient(name="test", start=False) as client:
        await client.status()
        for each in reports:
            client.report_ahead(each)
        await client.status()


def test_status_says_what_the_fills_ahead_have_brought(start_engine):
    start_engine()
    assert re.search(r"fills ahead\s+none", run("status").stdout)
    asyncio.run(
        report(
            AheadReport(num_asked=2, spent_s=3.0),
            AheadReport(num_asked=1, num_hits=2, spent_s=2.0, used_s=4.0),
        )
    )
    assert "3 asked, 2 of use; 1 s wasted" in run("status").stdout


def test_models_say_what_they_take_on_this_machine(tmp_path, monkeypatch):
    small, large = CATALOG[:2]
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path))
    memory = psutil.virtual_memory()._replace(available=small.memory_bytes)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    (tmp_path / "models").mkdir()
    with (tmp_path / "models" / large.file_name).open("wb") as file:
        file.truncate(large.num_bytes)
    first, second = map(json.loads, run("models", "--json").stdout.splitlines())
    assert (first["model"], first["description"]) == (small.name, "491 MB to download, the default")
    assert "more than" not in first["detail"]
    assert (second["model"], second["description"]) == (large.name, "downloaded")
    assert "4.4 GB of memory, more than the 1.4 GB that are free" in second["detail"]


def test_stop_ends_the_engine(start_engine):
    start_engine()
    result = run("stop")
    assert (result.exit_code, result.stdout) == (0, "The engine has stopped.\n")
    assert run("status").exit_code == ExitCode.ENGINE


def test_stop_without_an_engine_is_no_fault():
    result = run("stop")
    assert (result.exit_code, result.stdout) == (0, "The engine was not running.\n")


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path))


def test_the_counts_are_shown_by_language_and_by_reason():
    counts = Counts(
        languages={
            "python": LanguageCounts(shown=10, accepted=4, kept=3, ended=4),
            "go": LanguageCounts(shown=2, accepted=1, kept=1, ended=1),
        },
        not_shown={"deleted": 7},
    )
    add_counts(statistics_file(), counts)
    lines = [line.split() for line in run("status", "--stats").stdout.splitlines()]
    assert ["python", "10", "4", "40%", "3", "75%"] in lines
    assert ["all", "12", "5", "42%", "4", "80%"] in lines
    assert ["deleted", "7"] in lines
    answer = json.loads(run("status", "--stats", "--json").stdout)
    assert answer["counts"]["languages"]["go"] == {"shown": 2, "accepted": 1, "kept": 1, "ended": 1}


def test_a_name_that_is_not_in_the_catalog_is_answered_with_the_catalog():
    result = run("pull", "--model", "no-such-model")
    assert result.exit_code == ExitCode.MODEL
    assert result.stderr.startswith("intarsia: no model 'no-such-model': give one of")
    assert "qwen2.5-coder-1.5b" in result.stderr
    assert result.stderr.count("\n") == 1
