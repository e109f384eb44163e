"""The table of commands, the help and the codes."""

import subprocess
import sys

import pytest
from command_line import run

from intarsia.cli.command_table import COMMANDS, FORMER_NAMES
from intarsia.cli.errors import MEANINGS, ExitCode


def test_every_exit_code_is_documented_in_the_help():
    shown = run("--help").stdout
    assert set(MEANINGS) == set(ExitCode)
    for code, words in MEANINGS.items():
        assert f"{code.value}" in shown
        assert words in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_found_and_has_help(name: str):
    result = run(name, "--help")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"Usage: intarsia {name} ")
    assert "--debug" in result.stdout


@pytest.mark.parametrize(("former", "current"), FORMER_NAMES.items())
def test_a_former_name_is_the_same_command_and_is_not_shown(former: str, current: str):
    shown = run(former, "--help").stdout
    assert shown == run(current, "--help").stdout.replace(
        f"intarsia {current}", f"intarsia {former}"
    )
    assert former not in run("--help").stdout


def test_the_help_imports_no_command():
    program = (
        "import sys; from intarsia.cli.command_table import cli, COMMANDS\n"
        "from contextlib import suppress\n"
        "with suppress(SystemExit): cli.main(['--help'])\n"
        "sys.exit(any(row.module in sys.modules for row in COMMANDS.values()))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0


def test_the_version_is_the_package_s():
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("intarsia 0.")


def test_an_unknown_command_is_one_line():
    result = run("fil")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.startswith("intarsia: no such command 'fil'")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_imports_torch_before_it_runs(name: str):
    program = (
        "import sys; from importlib import import_module;"
        "from intarsia.cli.command_table import COMMANDS;"
        f"import_module(COMMANDS[{name!r}].module);"
        "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
