"""``intarsia report``: what is planted in a user's files, log and settings is not in the report."""

import getpass
import socket
from pathlib import Path

import pytest
from command_line import run
from hypothesis import given
from hypothesis import strategies as st

from intarsia.cli.errors import ExitCode
from intarsia.cli.report.engine_log import end_of_log
from intarsia.cli.report.own_messages import only_own_text
from intarsia.lsp.settings import Settings
from intarsia.lsp.statistics.file import last_settings_file, write_last_settings

PLANTED = ("acmecorp", "zephyrine", "xqledger", "hunter2secret")
AT = "2026-11-24 13:00:00,123"
SERVICE = "intarsia.engine.service"
LOG = f"""\
{AT} INFO {SERVICE}.process: process 4711 serves default at /home/zephyrine/run
{AT} WARNING {SERVICE}.worker: the local model answers: acmecorp refused for x in hunter2secret
{AT} ERROR {SERVICE}.worker: acmecorp xqledger hunter2secret went unused
Traceback (most recent call last):
  File "/home/zephyrine/intarsia/engine/service/worker.py", line 42, in fill
    return xqledger(acmecorp, "hunter2secret")
  File "/home/zephyrine/acmecorp/xqledger.py", line 7, in charge_acmecorp
    raise ValueError(hunter2secret)
ValueError: acmecorp has no xqledger
def xqledger(acmecorp): return "hunter2secret"
{AT} INFO acmecorp.xqledger: loaded xqledger in 1.5 s
"""


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
    assert "- debounceMs: 11" in written
    assert "- exclude: (1 entries)" in written
    assert "- cache: ok:" in written
    assert "INTARSIA_CACHE_DIR" in written
    assert "engine/service/worker.py, line 42" in written
    assert "WARNING intarsia.engine.service.worker: the local model answers: …" in written
    assert "ValueError: …" in written
    assert "process 4711 serves default at …" in written


def test_it_overwrites_no_file(tmp_path: Path):
    path = tmp_path / "kept.md"
    path.write_text("kept")
    result = run("report", "--output", str(path))
    assert result.exit_code == ExitCode.NOT_WRITTEN
    assert "exists" in result.stderr
    assert path.read_text() == "kept"


def test_the_log_may_be_missing_or_no_text(tmp_path: Path):
    assert end_of_log(tmp_path / "none.log") == []
    (tmp_path / "engine.log").write_bytes(bytes(range(256)) * 100)
    assert end_of_log(tmp_path / "engine.log") == []


@given(st.text(alphabet="qxzjkvw", min_size=4, max_size=20), st.sampled_from(" _-./\\'\"`@:=("))
def test_a_word_of_others_is_left_out_in_any_company(word: str, mark: str):
    assert only_own_text(f"loaded {word}{mark}{word} in 1.5 s") == "loaded … in 1.5 s"
    assert word not in only_own_text(f"{word}{mark} loaded in 1.5 s: {word}")


def test_code_of_plain_words_is_left_out_too():
    assert only_own_text("for item in items: return total") == "…"
    assert only_own_text("idle time went unused: for item in items") == "idle time went unused: …"
