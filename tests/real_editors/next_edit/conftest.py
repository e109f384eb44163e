"""A VS Code of its own for each test of next edits."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from code_server import code_server
from extension_log import ExtensionLog
from installation import packaged_extension
from playwright.sync_api import Browser
from small_extension import write_extension
from temporary_address import temporary_address
from windows import Windows


@pytest.fixture
def windows(request: pytest.FixtureRequest, browser: Browser, tmp_path: Path) -> Iterator[Windows]:
    """Windows of a VS Code with the SETTINGS of the module, and its PROGRAM as an extension."""
    workspaces = tmp_path / "workspaces"
    workspaces.mkdir()
    extensions = [packaged_extension()]
    if program := getattr(request.module, "PROGRAM", None):
        more = {"activationEvents": ["onLanguage:python"]}
        extensions.append(write_extension(tmp_path, "renamer", program, more))
    with (
        temporary_address() as address,
        code_server(
            tmp_path / "vscode",
            {**os.environ, **address.as_environment()},
            extensions=extensions,
            settings=request.module.SETTINGS,
        ) as server,
    ):
        log = ExtensionLog(server=server)
        with Windows(server=server, browser=browser, folder=workspaces) as windows:
            yield windows
        assert log.problems() == []
