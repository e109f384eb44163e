"""Where ``make test-editors`` has put the editors; what is missing is named with what to do."""

import os
import shutil
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
EDITORS = PROJECT / "build" / "editors"
NODE_PROGRAMS = EDITORS / "node_modules" / ".bin"
FAILURES = EDITORS / "failures"
EXTENSION = PROJECT / "editors" / "vscode"
SERVER = (str(Path(sys.executable).with_name("intarsia")), "serve")


class NotInstalled(Exception):
    """Something that these tests need is not there."""


def code_server_program() -> Path:
    """Return the program; it runs on the node beside it."""
    program = NODE_PROGRAMS / "code-server"
    if not program.exists():
        raise NotInstalled("no code-server: run `make test-editors`")
    return program


def path_with_node(path: str) -> str:
    """Return the PATH with our node before all: code-server needs one of its own version."""
    return os.pathsep.join((str(NODE_PROGRAMS), path))


def chromium_program() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    raise NotInstalled("no Chromium: on Debian, apt-get install chromium")


def packaged_extension() -> Path:
    built = sorted(EXTENSION.glob("*.vsix"), key=lambda path: path.stat().st_mtime)
    if not built:
        raise NotInstalled(f"no .vsix: run `npm ci && npm run package` in {EXTENSION}")
    return built[-1]
