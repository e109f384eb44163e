"""What the extension and its server have logged, over all windows: read from the editor's files."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from code_server import CodeServer

_PROBLEM = re.compile(r"\[(error|warning)\]|Traceback|Unhandled|unexpected", re.IGNORECASE)


@dataclass(kw_only=True, slots=True)
class ExtensionLog:
    """The lines since the reader was made."""

    server: CodeServer
    _begins_at: dict[Path, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._begins_at = {path: path.stat().st_size for path in self.server.logs()}

    def lines(self) -> list[str]:
        return [
            line
            for path in self.server.logs()
            for line in path.read_bytes()[self._begins_at.get(path, 0) :].decode().splitlines()
        ]

    def problems(self) -> list[str]:
        """Return the lines that tell of errors or warnings."""
        return [line for line in self.lines() if _PROBLEM.search(line)]
