"""What is asked wrongly of ``train`` is one line."""

from pathlib import Path

import pytest
from laboratory import run

from intarsia.cli.errors import ExitCode


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("adapter", "--corpus", ".", "--out", "x"), "give --minutes or --tokens"),
        (("tuning", "--corpus", ".", "--out", "x", "--window", "250"), "'250' is no window"),
        (("tuning", "--corpus", ".", "--out", "x", "--window", "0+9"), "'0+9' is no window"),
        (("boat",), "no such command 'boat'"),
    ],
)
def test_a_fault_is_one_line(tmp_path: Path, monkeypatch, words: tuple[str, ...], told: str):
    monkeypatch.chdir(tmp_path)
    result = run("train", *words)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.startswith("intarsia: ")
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
