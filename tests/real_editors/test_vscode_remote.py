"""VS Code away from the files: a remote extension host, and folders of a virtual file system.

The window is a browser's page. It reaches the folder through the remote authority, as a window does
over SSH; extensions run in the remote extension host.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from code_server import CodeServer, code_server
from extension_log import ExtensionLog
from installation import packaged_extension
from memory_files import SCHEME, write_memory_files
from playwright.sync_api import Browser, expect
from sources import SUM
from test_vscode_context import LEDGER, OTHERS, USE
from windows import Windows

from conftest import PATIENT
from intarsia.engine.ipc.address import Address

FILES = {"/project/sum.py": SUM.replace("║", ""), "/project/.env.sh": "KEY=\n"}


def test_extension_server_engine_and_index_run_on_the_side_of_the_files(
    windows: Windows, real_engine_runtime: Address
) -> None:
    window = windows.open(USE, others=OTHERS)
    shown = window.page.locator(f'.monaco-editor[data-uri$="/{window.file.name}"]').first
    expect(shown).to_have_attribute("data-uri", f"{windows.server.remote}{window.file}")
    window.type(".")
    assert window.ghost_text()
    seen = window.expect_the_model_sees("def charge_category(self, category: str, cents: int)")
    assert "ledger.py" in seen
    host = windows.server.extension_host(using=real_engine_runtime.directory)
    running = [" ".join(child.cmdline()) for child in host.children(recursive=True)]
    assert any("intarsia" in command and "serve" in command for command in running)
    assert any("intarsia.workspace" in command for command in running)


@pytest.fixture
def virtual_vscode(real_engine_runtime: Address, tmp_path: Path) -> Iterator[CodeServer]:
    """A VS Code with a file system in memory."""
    own = tmp_path / "extension"
    own.mkdir()
    with code_server(
        tmp_path / "vscode",
        {**os.environ, **real_engine_runtime.as_environment()},
        extensions=[packaged_extension(), write_memory_files(own, FILES)],
        settings=PATIENT,
    ) as server:
        yield server


def test_a_virtual_folder_gets_suggestions_from_the_document_alone(
    virtual_vscode: CodeServer,
    browser: Browser,
    real_engine_runtime: Address,
    tmp_path: Path,
) -> None:
    log = ExtensionLog(server=virtual_vscode)
    workspaces = tmp_path / "workspaces"
    workspaces.mkdir()
    (workspaces / "project").mkdir()
    (workspaces / "project" / "ledger.py").write_text(LEDGER)  # of the same name, and not opened
    workspace = workspaces / "virtual.code-workspace"
    workspace.write_text(json.dumps({"folders": [{"uri": f"{SCHEME}:/project"}]}))
    with Windows(server=virtual_vscode, browser=browser, folder=workspaces) as windows:
        window = windows.open_virtual(workspace, f"{SCHEME}:/project/sum.py")
        window.press("Control+Home", "ArrowDown", "ArrowDown", "End")
        window.type(" ")
        window.expect_ghost_text("left + right")
        seen = window.expect_the_model_sees("No code of other files")
        assert "def add(left, right)" in seen
        window.page.get_by_role("tab", name="What the Model Sees").click(button="middle")
        secret = windows.open_virtual(workspace, f"{SCHEME}:/project/.env.sh")
        secret.press("End")
        secret.type("1")
        secret.expect_status_tells("is excluded by the pattern")
        host = virtual_vscode.extension_host(using=real_engine_runtime.directory)
        running = [" ".join(child.cmdline()) for child in host.children(recursive=True)]
        assert any("intarsia" in command and "serve" in command for command in running)
        assert not any("intarsia.workspace" in command for command in running)  # no index
    assert log.problems() == []
