"""``intarsia remote`` and the line of ``doctor``: what they say, and what they write."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import run
from http_server import FaultyServer, answer, serving
from llama_cpp_double import last_event, llama_cpp_answers, writing
from rule_filler import RuleFiller
from team_server import team_server
from toy_causal_tokenizer import toy_tokenizer

from intarsia.cli.doctor import check_remotes


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings file, in a folder that does not exist yet."""
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "config" / "remotes.toml"


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with serving(llama_cpp_answers(writing(last_event()))) as server:
        yield server


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    toy_tokenizer().save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_a_server_is_added_listed_tested_and_removed(server, tokenizer, settings):
    added = run("remote", "add", "home", server.url, "--tokenizer", tokenizer)
    assert (added.exit_code, settings.is_file()) == (0, True)
    assert f"code goes to  {server.url.removeprefix('http://')}" in added.stdout
    assert "server        llama.cpp" in added.stdout
    assert "4,096 tokens in each of 2 slots" in added.stdout
    assert "lost          next edits" in added.stdout
    assert "/completion" not in server.paths(), "nothing is sent but the probe"
    assert run("remote", "list").stdout.split() == ["remote:home", server.url]
    (tested,) = map(json.loads, run("remote", "test", "home", "--json").stdout.splitlines())
    assert (tested["usable"], tested["server"]["system"]) == (True, "llama.cpp")
    *_, row = map(json.loads, run("models", "--json").stdout.splitlines())
    assert row["model"] == "remote:home"
    assert server.url.removeprefix("http://") in row["description"]
    assert check_remotes().found.startswith("1 of 1 can fill holes; home (127.0.0.1:")
    assert run("remote", "remove", "home").exit_code == 0
    assert "none" in run("remote", "list").stdout
    assert check_remotes().found == "none: all is computed on this machine"


def test_a_teams_engine_is_added_and_tested(tmp_path: Path, settings: Path) -> None:
    with team_server(RuleFiller(lambda _: "1"), tmp_path, "ann") as team:
        key = tmp_path / "ann.key"
        key.write_text(team.key_of["ann"])
        key.chmod(0o600)
        added = run("remote", "add", "team", f"http://127.0.0.1:{team.port}", "--key-file", key)
        assert (added.exit_code, settings.is_file()) == (0, True), added.stdout
        assert "server        intarsia" in added.stdout
        assert "tokenizer" not in added.stdout, "it has its own"
        (tested,) = map(json.loads, run("remote", "test", "team", "--json").stdout.splitlines())
        assert (tested["usable"], tested["server"]["system"]) == (True, "intarsia")
        key.write_text("wrong")
        refused = run("remote", "test", "team")
        assert refused.exit_code != 0 and "refuses the key" in refused.stdout


def test_what_cannot_fill_holes_is_not_added(settings: Path) -> None:
    models = json.dumps({"data": [{"id": "m\x1b[31m", "owned_by": "somebody"}]}).encode()
    with serving(lambda path, body, connection: answer(connection, models)) as server:
        added = run("remote", "add", "work", server.url)
        assert (added.exit_code, settings.exists()) == (1, False)
        assert "problem       intarsia cannot fill holes through this system" in added.stdout
        assert "\x1b" not in added.stdout
        assert run("remote", "add", "work", server.url, "--no-test", "--priority").exit_code == 0
        assert "priority = true" in settings.read_text()
    assert settings.is_file()
    tested = run("remote", "test")
    assert (tested.exit_code, "cannot be reached" in tested.stdout) == (1, True)
    finding = check_remotes()
    assert (finding.state, finding.found) == ("note", "0 of 1 can fill holes")
    assert "cannot be reached" in (finding.advice or "")


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["add", "work", "http://example.com"], 4, "http:// is for this machine only"),
        (["remove", "work"], 4, "no remote 'work'"),
        (["test", "work"], 4, "no remote 'work'"),
        (["test"], 2, "there is no remote"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], code: int, problem: str) -> None:
    result = run("remote", *arguments)
    assert (result.exit_code, result.stderr.count("\n")) == (code, 1)
    assert problem in result.stderr


def test_doctor_finds_a_faulty_settings_file(settings: Path) -> None:
    settings.parent.mkdir(mode=0o700)
    settings.write_text("[work]\nurl = 'http://example.com'\n")
    settings.chmod(0o600)
    finding = check_remotes()
    assert (finding.state, "example.com is another" in finding.found) == ("missing", True)
