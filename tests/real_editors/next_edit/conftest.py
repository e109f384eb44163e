"""A VS Code of its own for each test of next edits."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from extension_log import ExtensionLog
from playwright.sync_api import Browser
from small_extension import write_extension
from temporary_address import temporary_address
from windows import Windows, own_windows


@pytest.fixture
def windows(request: pytest.FixtureRequest, browser: Browser, tmp_path: Path) -> Iterator[Windows]:
    """Windows of a VS Code with the SETTINGS of the module, and its PROGRAM as an extension."""
    extensions = []
    if program := getattr(request.module, "PROGRAM", None):
        more = {"activationEvents": ["onLanguage:python"]}
        extensions.append(write_extension(tmp_path, "renamer", program, more))
    settings = request.module.SETTINGS
    with (
        temporary_address() as address,
        own_windows(
            address, browser, tmp_path, settings=settings, extensions=extensions
        ) as windows,
    ):
        log = ExtensionLog(server=windows.server)
        yield windows
        assert log.problems() == []
