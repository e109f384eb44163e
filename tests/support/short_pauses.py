"""A fixture for tests of idle time in a server of the test's process: no pause of the product."""

import pytest

from intarsia.engine.service import worker
from intarsia.lsp.next_edits import next_edits, watched
from intarsia.lsp.project import project_contexts
from intarsia.lsp.requests import look_ahead

PAUSE_S = 0.05


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let server and engine wait for ``PAUSE_S`` before what they do in idle time."""
    for module in (worker, next_edits, project_contexts, look_ahead):
        monkeypatch.setattr(module, "PAUSE_S", PAUSE_S)
    monkeypatch.setattr(next_edits, "LONG_PAUSE_S", 2 * PAUSE_S)
    monkeypatch.setattr(watched, "AFTER_INTERRUPTION_S", PAUSE_S)
    monkeypatch.setattr(project_contexts, "INCOMPLETE_PAUSE_S", 2 * PAUSE_S)
