"""``intarsia status``, ``stop``, ``pull``, and ``report``, in which nothing is that was planted."""

import asyncio
import getpass
import json
import re
import resource
import socket
from pathlib import Path

import psutil
import pytest
from command_line import run

from intarsia.cli.errors import ExitCode
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import AheadReport
from intarsia.engine.model_store.catalog import CATALOG
from intarsia.lsp.settings import Settings
from intarsia.lsp.statistics import (
    Counts,
    LanguageCounts,
    add_counts,
    last_settings_file,
    statistics_file,
    write_last_settings,
)

PLANTED = ("acmecorp", "zephyrine", "xqledger", "hunter2secret")
LOG = "ERROR acmecorp refused hunter2secret at /home/zephyrine/xqledger.py, line 7\n"


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the report of a user whose folders, log and settings have planted words."""
    private = tmp_path / "zephyrine" / "acmecorp"
    private.mkdir(parents=True)
    for name in ("INTARSIA_DATA_DIR", "INTARSIA_LOG_DIR", "INTARSIA_CACHE_DIR"):
        monkeypatch.setenv(name, str(private))
    monkeypatch.chdir(private)
    (private / "engine.log").write_text(LOG, encoding="utf-8")
    settings = Settings(
        model="/home/zephyrine/acmecorp.gguf",
        exclude=("**/xqledger/**",),
        hole_marks=("hunter2secret",),
        debounce_ms=11,
    )
    write_last_settings(last_settings_file(), settings)
    counts = Counts(
        languages={"python": LanguageCounts(shown=3, accepted=2)}, not_shown={"empty": 4}
    )
    add_counts(statistics_file(), counts)
    result = run("report")
    assert result.exit_code == 0, result.stderr
    text = (private / "intarsia-report.md").read_text(encoding="utf-8")
    assert text in result.stdout, "all of it is shown"
    assert "Nothing was sent" in result.stdout
    return text


def test_nothing_planted_is_in_it(written: str):
    for word in (*PLANTED, str(Path.home()) + "/", socket.gethostname()):
        assert word not in written, word
    assert f"/{getpass.getuser()}/" not in written


def test_what_helps_is_in_it(written: str):
    assert "- intarsia 0.1.0, build" in written
    assert "- torch 2" in written
    assert "- setting debounceMs: 11" in written
    assert "- setting exclude: (1 entries)" in written
    assert "- setting model: (a text)" in written
    assert "- doctor, cache: ok" in written
    assert "- engine: NoEngine" in written
    assert "- python: 3 shown, 2 accepted, 0 of 0 kept" in written
    assert "- not shown, empty: 4" in written


def test_on_a_full_disk_it_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("intarsia.cli.report._lines", lambda: ["a long line " * 9_000])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        result = run("report", "--output", str(tmp_path / "r.md"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert result.exit_code == ExitCode.NOT_WRITTEN
    assert list(tmp_path.iterdir()) == []


def test_it_overwrites_no_file(tmp_path: Path):
    path = tmp_path / "kept.md"
    path.write_text("kept")
    result = run("report", "--output", str(path))
    assert result.exit_code == ExitCode.NOT_WRITTEN
    assert "exists" in result.stderr
    assert path.read_text() == "kept"


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
