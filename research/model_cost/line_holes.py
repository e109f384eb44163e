"""Single-line holes in the engine's own source, as requests: real code that is always there."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import intarsia.engine
from intarsia.engine.ipc.messages import Fill

_SOURCE = Path(intarsia.engine.__file__).parent
_PREFIX_CHARS, _SUFFIX_CHARS = 2400, 1000  # about a thousand tokens of context
_MAX_TOKENS = 32


def line_holes(num_holes: int) -> list[Fill]:
    """Return holes of different files, so that no context continues another one."""
    return list(islice(_holes(), num_holes))


def _holes() -> Iterator[Fill]:
    files = sorted(_SOURCE.rglob("*.py"))
    for number, path in enumerate(files):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        line = next((i for i in range(len(lines) * 2 // 3, len(lines)) if len(lines[i]) > 20), None)
        if line is None:
            continue
        indent = len(lines[line]) - len(lines[line].lstrip())
        prefix = "".join(lines[:line]) + lines[line][:indent]
        if len(prefix) < _SUFFIX_CHARS:
            continue  # too little context
        yield Fill(
            id=number,
            prefix=prefix[-_PREFIX_CHARS:],
            suffix="\n" + "".join(lines[line + 1 :])[:_SUFFIX_CHARS],
            stop=("\n",),
            max_tokens=_MAX_TOKENS,
        )
