"""VS Code as a server (code-server) with our extension in it, and nothing of the user's."""

import contextlib
import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import psutil
from installation import code_server_program, path_with_node
from local_server import free_port

QUIET: Mapping[str, object] = {
    "chat.disableAIFeatures": True,
    "editor.minimap.enabled": False,
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "git.enabled": False,
    "telemetry.telemetryLevel": "off",
    "typescript.disableAutomaticTypeAcquisition": True,
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "files.autoSave": "off",  # a browser's VS Code saves after a second, between two steps
    "workbench.tips.enabled": False,
}
"""Nothing that moves by itself or asks the network. Menus open as they do in VS Code."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeServer:
    """A running server; a window is a browser's page at one of its addresses."""

    port: int
    folder: Path

    def url(self, workspace: Path, place: tuple[Path, int, int] | None = None) -> str:
        """Return where a window shows the workspace, and a text file with the cursor at a place.

        The workspace is a folder, or a ``.code-workspace`` file that lists several. A place is a
        file, a line and a column, from 1.
        """
        kind = "workspace" if workspace.suffix == ".code-workspace" else "folder"
        query = {kind: str(workspace)}
        if place is not None:
            file, line, column = place
            shown = f"{self.remote}{file}:{line}:{column}"
            payload = [["openFile", shown], ["gotoLineMode", "true"]]
            query["payload"] = json.dumps(payload)
        return f"http://127.0.0.1:{self.port}/?{urlencode(query)}"

    @property
    def remote(self) -> str:
        """The URI of the root folder as the window has it: it reaches the files from elsewhere."""
        return f"vscode-remote://127.0.0.1:{self.port}"

    def extension_host(self, using: Path) -> psutil.Process:
        """Return the newest process that runs extensions; it uses an engine in this folder."""
        hosts = [
            process
            for process in psutil.process_iter()
            if "--type=extensionHost" in _command_line(process)
            and process.environ().get("INTARSIA_RUNTIME_DIR") == str(using)
        ]
        return max(hosts, key=lambda host: host.create_time())

    def logs(self) -> list[Path]:
        """Return what our extension has logged, one file or more for each window."""
        return sorted((self.folder / "data" / "logs").glob("*/exthost*/intarsia.intarsia/*.log"))


@contextmanager
def code_server(
    folder: Path,
    environment: Mapping[str, str],
    *,
    extensions: Sequence[Path],
    settings: Mapping[str, object],
    trusts_workspaces: bool = True,
) -> Iterator[CodeServer]:
    """Run a server that keeps all of its files in the folder.

    The environment is all that it gets; an extension is a .vsix; the settings are the user's.
    """
    _write_settings(folder, settings)
    _write_language_packs(folder)
    everywhere = {**environment, "PATH": path_with_node(environment["PATH"])}
    for extension in extensions:
        install = [*_command(folder), "--install-extension", extension]
        subprocess.run(install, env=everywhere, check=True, capture_output=True, timeout=120)
    port = free_port()
    command = [*_command(folder), "--auth=none", f"--bind-addr=127.0.0.1:{port}"]
    command += [
        "--disable-telemetry",
        "--disable-update-check",
        "--disable-getting-started-override",
    ]
    if trusts_workspaces:
        command.append("--disable-workspace-trust")
    with (folder / "code-server.log").open("wb") as log:
        process = subprocess.Popen(command, env=everywhere, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_until_it_answers(port, process)
            yield CodeServer(port=port, folder=folder)
        finally:
            process.terminate()
            process.wait(30)


def _command_line(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


def _command(folder: Path) -> list[str]:
    return [
        str(code_server_program()),
        f"--config={folder / 'config.yaml'}",
        f"--user-data-dir={folder / 'data'}",
        f"--extensions-dir={folder / 'extensions'}",
    ]


def _write_settings(folder: Path, settings: Mapping[str, object]) -> None:
    """Write the user's settings twice: programs are looked up in the machine's alone."""
    for scope in ("User", "Machine"):
        path = folder / "data" / scope / "settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**QUIET, **settings}))


def _write_language_packs(folder: Path) -> None:
    """Let a window have its browser's language; VS Code's own words stay English."""
    (folder / "data" / "User" / "argv.json").write_text("{}")  # without it, all is English
    words = folder / "data" / "words.json"
    words.write_text('{"contents": {}}')
    german = {
        "hash": "de",
        "label": "Deutsch",
        "extensions": [{"extensionIdentifier": {"id": "intarsia.words"}, "version": "1.0.0"}],
        "translations": {"vscode": str(words)},
    }
    (folder / "data" / "languagepacks.json").write_text(json.dumps({"de": german}))


def _wait_until_it_answers(port: int, process: "subprocess.Popen[bytes]") -> None:
    ends_at = time.monotonic() + 60
    while True:
        assert process.poll() is None, "code-server has ended"
        assert time.monotonic() < ends_at, "code-server does not answer"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
