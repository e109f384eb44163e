"""Real editors, the packaged extension, the real engine: run by name (``make test-editors``)."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from code_server import CodeServer, code_server
from extension_log import ExtensionLog
from installation import FAILURES, SERVER, chromium_program, packaged_extension
from playwright.sync_api import Browser, sync_playwright
from windows import CHROMIUM_FLAGS, Windows

from intarsia.engine.ipc.address import Address

PATIENT: Mapping[str, object] = {
    "intarsia.serverCommand": list(SERVER),
    "intarsia.deadlineMs": 60_000,
    "intarsia.invokedDeadlineMs": 60_000,
}


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Leave this folder out of a run that does not name it: it needs editors and minutes."""
    folder = Path(__file__).parent
    named = [(config.invocation_params.dir / name.split("::")[0]).resolve() for name in config.args]
    return None if any(path.is_relative_to(folder) for path in named) else True


def pytest_exception_interact(node: pytest.Item) -> None:
    """Keep a picture of each window of a test that failed."""
    windows = getattr(node, "funcargs", {}).get("windows")
    if isinstance(windows, Windows):
        windows.take_pictures(FAILURES / node.name)


@pytest.fixture(scope="session")
def vscode(real_engine_runtime, tmp_path_factory) -> Iterator[CodeServer]:
    """The one VS Code of this run; it trusts every workspace."""
    with code_server(
        tmp_path_factory.mktemp("vscode"),
        {**os.environ, **real_engine_runtime.as_environment()},
        extensions=[packaged_extension()],
        settings=PATIENT,
    ) as server:
        yield server


# The engine comes first: loading it needs an event loop, and the browser's driver occupies one.
@pytest.fixture(scope="session")
def browser(real_engine_runtime: Address) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium_program(), args=CHROMIUM_FLAGS)


@pytest.fixture
def log(vscode: CodeServer) -> ExtensionLog:
    """What the extension and the server log during this test."""
    return ExtensionLog(server=vscode)


@pytest.fixture
def windows(vscode, browser, tmp_path, log) -> Iterator[Windows]:
    """Open windows on workspaces of this test's own; afterwards no unforgiven error is logged."""
    with Windows(server=vscode, browser=browser, folder=tmp_path) as windows:
        yield windows
    assert log.problems() == []
