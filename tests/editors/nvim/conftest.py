"""The real Neovim with the plugin in editors/nvim and the real server, before a rule engine.

A module of tests shares one editor. It says in RULES how the engine fills (as for
``rule_server_command``), and may name OPTIONS of the plugin and Lua to run BEFORE and AFTER setup.
"""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from headless_nvim import Neovim, headless_nvim
from rule_server import rule_server_command
from temporary_address import temporary_address

collect_ignore_glob = ["test_*.py"] if sys.platform == "win32" else []  # nvim on a unix socket


@pytest.fixture(scope="module")
def editor(request: pytest.FixtureRequest) -> Iterator[Neovim]:
    """The editor, on an empty file."""
    module = request.module
    options = {
        "cmd": rule_server_command(**module.RULES),
        "settings": {"debounceMs": 0, "deadlineMs": 60_000},
        **getattr(module, "OPTIONS", {}),
    }
    lua = {"before": getattr(module, "BEFORE", ""), "after": getattr(module, "AFTER", "")}
    with temporary_address() as address:
        folder = address.directory
        with headless_nvim(
            folder, folder / "empty.py", options, address.as_environment(), **lua
        ) as nvim:
            yield nvim


@pytest.fixture
def edit(editor: Neovim, tmp_path: Path) -> Iterator[Callable[..., Neovim]]:
    """Open a file with this text in the module's editor; no error may be shown in it."""

    def open_file(text: str, name: str = "a.py") -> Neovim:
        editor.edit(tmp_path / name, text)
        return editor

    yield open_file
    editor.keys("<Esc><Esc>")
    assert not re.search(r"\bE\d+:|[Ee]rror|intarsia", editor.messages())
