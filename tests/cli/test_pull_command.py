"""``intarsia pull`` on names and folders that cannot be used. The fetching has tests of its own."""

from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.errors import ExitCode


def test_a_name_that_is_not_in_the_catalog_is_answered_with_the_catalog():
    result = run("pull", "--model", "no-such-model")
    assert result.exit_code == ExitCode.MODEL
    assert result.stderr.startswith("intarsia: no model 'no-such-model' in the catalog")
    assert "qwen2.5-coder-1.5b" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_cache_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    blocked = tmp_path / "cache"
    blocked.write_text("a file where a folder should be")
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(blocked))
    result = run("pull")
    assert result.exit_code == ExitCode.MODEL
    assert "INTARSIA_CACHE_DIR" in result.stderr
