"""``intarsia serve`` takes ports of this machine only, and starts without what it does not need."""

import json
import subprocess
import sys

import pytest
from command_line import run

from intarsia.cli.errors import ExitCode
from intarsia.cli.serve import _parse_address


@pytest.mark.parametrize(
    ("word", "address"),
    [
        ("7777", ("127.0.0.1", 7777)),
        ("localhost:7777", ("localhost", 7777)),
        ("127.0.0.5:1", ("127.0.0.5", 1)),
        ("[::1]:7777", ("::1", 7777)),
    ],
)
def test_an_address_of_this_machine_is_taken(word: str, address: tuple[str, int]):
    assert _parse_address(word) == address


@pytest.mark.parametrize("word", ["0.0.0.0:7777", "192.168.1.2:80", "example.org:80", "[::]:80"])
def test_an_address_that_others_can_reach_is_refused(word: str):
    result = run("serve", "--tcp", word)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "is reachable from other machines" in result.stderr


@pytest.mark.parametrize("word", ["", "0", "65536", "port", "127.0.0.1:", "１"])
def test_a_port_that_is_none_is_refused(word: str):
    result = run("serve", "--tcp", word)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "has no port" in result.stderr


def test_a_client_that_takes_its_leave_is_served_without_fault():
    leave = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    frames = b""
    for message in leave:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        frames += b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    program = "import intarsia.lsp.session as s; s.Session.preload = lambda self: None;"
    program += "from intarsia.cli.main import main; main()"
    command = [sys.executable, "-P", "-c", program, "serve"]
    done = subprocess.run(command, input=frames, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (ExitCode.OK, b"")


def test_the_server_loads_neither_rich_nor_the_grammars_before_it_answers():
    program = (
        "import sys; import intarsia.cli.main, intarsia.cli.serve, intarsia.lsp.features;"
        "sys.exit(str({'rich', 'tree_sitter', 'torch', 'numpy'} & set(sys.modules)"
        " or '') or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
