"""The engine's log file has a bounded size and no raw escapes, whatever the engine logs."""

import logging
from pathlib import Path

import pytest

from intarsia.engine.service import process


def test_a_log_file_beyond_its_bound_is_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "MAX_LOG_BYTES", 100)
    path = tmp_path / "engine.log"
    with path.open("a") as stream:
        handler = process.BoundedHandler(stream)
        for number in range(1000):
            handler.emit(logging.makeLogRecord({"msg": f"record {number:04}"}))
    assert path.stat().st_size <= 112
    assert path.read_text().endswith("record 0999\n")


def test_escapes_in_a_name_are_shown_and_a_traceback_keeps_its_lines() -> None:
    formatter = process.PrintableFormatter("%(message)s")
    try:
        raise ValueError("\x1b[2J")
    except ValueError as error:
        record = logging.makeLogRecord({"msg": "no model %s", "args": ("a\x1b]0;b\x07\u202e",)})
        record.exc_info = (type(error), error, error.__traceback__)
    first, *others = formatter.format(record).split("\n")
    assert first == "no model a\\x1b]0;b\\x07\\u202e"
    assert others[-1] == "ValueError: \\x1b[2J"
