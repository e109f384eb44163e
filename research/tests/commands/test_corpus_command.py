"""The command: what it says of a corpus, and of what it cannot use."""

import json
from pathlib import Path

import pytest
from corpus_files import functions
from laboratory import run
from small_packages import SmallNet

from intarsia.cli.errors import ExitCode
from intarsia_research.corpus import fetch


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    net = SmallNet()
    net.add_wheel("first", {"first/one.py": functions("one", "two")})
    monkeypatch.setattr(fetch, "read_page", net.read)
    (tmp_path / "list.txt").write_text("wheel first\nnpm nowhere\n", encoding="utf-8")
    return tmp_path


def build(folder: Path, *words: str | Path):
    return run(
        *("corpus", "build", "--out", folder / "out", "--archives", folder / "archives"),
        *("--packages", folder / "list.txt", *words),
    )


def test_a_corpus_is_built_and_shown(folder: Path):
    built = build(folder)
    assert built.exit_code == ExitCode.OK, built.stderr
    assert "1 files" in built.stdout
    assert "left out: npm nowhere" in built.stderr
    shown = run("corpus", "show", folder / "out", "--packages")
    assert shown.exit_code == ExitCode.OK
    assert "python" in shown.stdout and "wheel first 1.0 (MIT)" in shown.stdout
    as_json = run("corpus", "show", folder / "out", "--json")
    assert json.loads(as_json.stdout)["kept"]["num_files"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--language", "klingon"), "no language 'klingon'"),
        (("--language", "json"), "no language 'json'"),
        (("--hold-out", "first"), "is not a package"),
        (("--packages", "none.txt"), "cannot read none.txt"),
        (("--measured", "none.jsonl.gz"), "cannot read none.jsonl.gz"),
        (("--max-mb", "0"), "max-mb"),
    ],
)
def test_what_cannot_be_used_is_one_line(folder: Path, words: tuple[str, ...], message: str):
    result = build(folder, *words)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_folder_without_a_corpus_is_one_line(tmp_path: Path):
    result = run("corpus", "show", tmp_path)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "make one with `corpus build`" in result.stderr
