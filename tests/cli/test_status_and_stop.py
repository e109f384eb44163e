"""``intarsia status`` and ``intarsia stop``, with an engine and without."""

import json

from command_line import run

from intarsia.cli.errors import ExitCode


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


def test_status_as_json_has_the_engine_s_own_fields(start_engine):
    start_engine()
    status = json.loads(run("status", "--json").stdout)
    assert status["state"] == "idle"
    assert status["pid"] > 0


def test_stop_ends_the_engine(start_engine):
    start_engine()
    result = run("stop")
    assert (result.exit_code, result.stdout) == (0, "The engine has ended.\n")
    assert run("status").exit_code == ExitCode.ENGINE


def test_stop_without_an_engine_is_no_fault():
    result = run("stop")
    assert (result.exit_code, result.stdout) == (0, "The engine was not running.\n")
