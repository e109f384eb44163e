"""The end of the engine's log, without what it may quote: see ``own_messages``."""

import builtins
import re
from collections.abc import Iterator
from pathlib import Path

from intarsia.cli.report.own_messages import LEFT_OUT, only_own_text

MAX_BYTES = 256 * 1024
MAX_LINES = 200

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_RECORD = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d+ (?P<level>[A-Z]+) (?P<name>[\w.]+): (?P<said>.*)"
)
_FRAME = re.compile(r'\s+File "(?P<path>[^"]*)", line (?P<line>\d+)')
_ERROR = re.compile(r"(?P<kind>[A-Za-z_][\w.]*)(?:: (?P<said>.*))?")
_OWN_FILE = re.compile(
    r"(?:cli|engine|infill|lsp|research|workspace)/(?:[a-z_0-9]+/)*[a-z_0-9]+\.py\Z"
)


def end_of_log(path: Path) -> list[str]:
    """Return the last lines; none where there is no log."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MAX_BYTES))
            text = file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    return list(_plain_lines(text.splitlines()))[-MAX_LINES:]


def _plain_lines(lines: list[str]) -> Iterator[str]:
    """Yield records, the places of tracebacks in our own files, and the errors that end these."""
    in_traceback = False
    for line in lines:
        if record := _RECORD.fullmatch(line):
            in_traceback = False
            level = record["level"] if record["level"] in _LEVELS else LEFT_OUT
            said = only_own_text(record["said"])
            yield f"{record['time']} {level} {_module(record['name'])}: {said}"
        elif line.startswith("Traceback"):
            in_traceback = True
        elif frame := _FRAME.match(line):
            yield f"    {_place(frame['path'])}, line {frame['line']}"
        elif in_traceback and (error := _ERROR.fullmatch(line)):
            in_traceback = False
            kind = error["kind"] if hasattr(builtins, error["kind"]) else LEFT_OUT
            yield f"  {kind}: {only_own_text(error['said'] or '')}"


def _module(name: str) -> str:
    """Return a module's name if it is one of ours, else an ellipsis."""
    _, _, module = name.partition(".")
    return name if _is_own(module.replace(".", "/") + ".py") else LEFT_OUT


def _place(path: str) -> str:
    found = _OWN_FILE.search(path.replace("\\", "/"))
    return found[0] if found is not None and _is_own(found[0]) else LEFT_OUT


def _is_own(file: str) -> bool:
    """Whether this is one of the files that we are installed with."""
    return (Path(__file__).parents[2] / file).is_file() and _OWN_FILE.fullmatch(file) is not None
