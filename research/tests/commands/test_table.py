"""The laboratory's commands, and what is said of faults."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from corpus_files import functions
from laboratory import run
from small_packages import SmallNet

from intarsia.cli.errors import ExitCode
from intarsia.engine.ipc.errors import EngineUnavailable
from intarsia_research.commands.table import LaboratoryCommands, cli
from intarsia_research.corpus import fetch
from intarsia_research.errors import BenchmarkFault, CorpusFault, EvaluationFault


@pytest.mark.parametrize("name", LaboratoryCommands.rows)
def test_every_command_is_found_and_has_help(name: str):
    result = run(name, "--help")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"Usage: python -m intarsia_research {name} ")
    assert "--debug" in result.stdout


def test_no_command_imports_torch_or_matplotlib_before_it_runs():
    program = (
        "import sys; from importlib import import_module\n"
        f"for module in {[row.module for row in LaboratoryCommands.rows.values()]}:\n"
        "    import_module(module)\n"
        "    assert not {'torch', 'transformers', 'matplotlib'} & sys.modules.keys(), module"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("kind", [EvaluationFault, CorpusFault, BenchmarkFault])
def test_a_fault_is_one_line_that_says_what_to_correct(kind: type[Exception]):
    fault = cli.fault_of(kind("this is\nnot there"))
    assert (str(fault), fault.code) == ("this is not there", ExitCode.BAD_INPUT)


def test_an_evaluation_that_its_engine_ended_has_the_engine_s_code():
    fault = EvaluationFault("no engine")
    fault.__cause__ = EngineUnavailable("no engine")
    assert cli.fault_of(fault).code == ExitCode.ENGINE


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("drafter", "--corpus", ".", "--out", "x"), "give --minutes or --tokens"),
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
