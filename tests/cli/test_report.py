"""``intarsia report``: what is planted in a user's files, log and settings is not in the report."""

import getpass
import resource
import socket
from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.errors import ExitCode
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
