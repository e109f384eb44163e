"""The engine's log file has a bounded size, however long the engine runs."""

import logging
from pathlib import Path

import pytest

from intarsia.engine.service import log


def test_a_log_file_beyond_its_bound_is_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(log, "MAX_BYTES", 100)
    path = tmp_path / "engine.log"
    with path.open("a") as stream:
        handler = log.BoundedHandler(stream)
        for number in range(1000):
            handler.emit(logging.makeLogRecord({"msg": f"record {number:04}"}))
    assert path.stat().st_size <= 112
    assert path.read_text().endswith("record 0999\n")
