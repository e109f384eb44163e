"""``intarsia serve`` takes ports of this machine only, and starts without what it does not need."""

import os
import subprocess
import sys

import pytest
from command_line import COMMAND, run
from faults.wire import frame

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


@pytest.mark.skipif(sys.platform == "win32", reason="no pty")
def test_on_a_terminal_it_says_that_it_waits_for_an_editor():
    ours, theirs = os.openpty()
    with subprocess.Popen([*COMMAND, "serve"], stdin=theirs, stderr=subprocess.PIPE) as process:
        assert b"an editor is to start this" in process.stderr.readline()
        process.kill()
    for end in (ours, theirs):
        os.close(end)


@pytest.mark.parametrize("word", ["", "0", "65536", "port", "127.0.0.1:", "１"])
def test_a_port_that_is_none_is_refused(word: str):
    result = run("serve", "--tcp", word)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "has no port" in result.stderr


def test_a_client_that_takes_its_leave_is_served_without_fault():
    params = {"capabilities": {}, "initializationOptions": {"preload": False}}
    leave = [
        {"id": 1, "method": "initialize", "params": params},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    frames = b"".join(map(frame, leave))
    done = subprocess.run([*COMMAND, "serve"], input=frames, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (ExitCode.OK, b"")


NUM_MODULES = 40
"""An editor waits for the answer to `initialize`: each module costs about a millisecond there."""
PACKAGES = {
    "attr", "attrs", "cattrs", "click", "intarsia", "lsprotocol", "msgspec", "pygls",
    "typing_extensions",
}  # fmt: skip
SLOW = {"importlib.metadata", "sqlite3", "platformdirs", "multiprocessing"}


def modules_loaded_by(params: object) -> set[str]:
    """Return what a server has imported once it has answered ``initialize`` and its client left."""
    program = (
        "import atexit, os, sys; known = set(sys.modules);"
        "atexit.register(lambda: os.write(2, ' '.join(set(sys.modules) - known).encode()));"
        "from intarsia.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, "serve"],
        input=frame({"id": 1, "method": "initialize", "params": params}),
        capture_output=True,
        timeout=60,
    )
    assert b'"serverInfo"' in done.stdout, done.stderr
    return set(done.stderr.decode().split())


@pytest.mark.parametrize(
    "text_document", [{}, {"inlineCompletion": {}}], ids=["completion", "inlineCompletion"]
)
def test_initialize_is_answered_with_few_modules(text_document: object):
    loaded = modules_loaded_by(
        {
            "processId": None,
            "rootUri": None,
            "workspaceFolders": [{"uri": "file:///bench", "name": "bench"}],
            "capabilities": {
                "textDocument": text_document,
                "experimental": {"intarsia": {"status": True, "drafts": True}},
            },
            "initializationOptions": {"maxPrefixTokens": 700, "exclude": ["*.min.js"]},
        }
    )
    own = sorted(name for name in loaded if name.startswith("intarsia."))
    assert len(own) <= NUM_MODULES, f"import new ones after `initialized`: {own}"
    of_others = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert {name for name in of_others if not name.startswith("_")} <= PACKAGES
    assert loaded & SLOW == set()
