"""An untrusted workspace in VS Code: its settings name no programs and no models."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from code_server import CodeServer, code_server
from installation import packaged_extension
from playwright.sync_api import Browser, expect
from sources import SUM
from windows import Windows

from conftest import PATIENT
from intarsia.engine.ipc.address import Address


@pytest.fixture
def careful_vscode(real_engine_runtime: Address, tmp_path: Path) -> Iterator[CodeServer]:
    """A VS Code that trusts no workspace, and does not ask."""
    silent = {"startupPrompt": "never", "banner": "never", "untrustedFiles": "open"}
    settings = {f"security.workspace.trust.{name}": value for name, value in silent.items()}
    with code_server(
        tmp_path / "vscode",
        {**os.environ, **real_engine_runtime.as_environment()},
        extensions=[packaged_extension()],
        settings={**PATIENT, **settings},
        trusts_workspaces=False,
    ) as server:
        yield server


def test_programs_and_models_of_an_untrusted_workspace_are_not_followed(
    careful_vscode: CodeServer, browser: Browser, tmp_path: Path
) -> None:
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    settings: dict[str, object] = {
        "intarsia.serverCommand": [str(program)],
        "intarsia.model": str(tmp_path / "no-model.gguf"),
    }
    workspaces = tmp_path / "workspaces"
    workspaces.mkdir()
    with Windows(server=careful_vscode, browser=browser, folder=workspaces) as windows:
        window = windows.open(SUM, settings=settings)
        window.type(" ")
        window.expect_ghost_text("left + right")
        expect(window.status).to_contain_text("qwen2.5-coder-0.5b")
        window.press("Tab")
        window.expect_cursor(3, 24)
        window.expect_saved(SUM.replace("║", " left + right"))
        assert not ran.exists()
