"""The section of the index measures a small workspace."""

import os
from typing import cast

import pytest

from intarsia_research.benchmark import index
from intarsia_research.benchmark.figures import Bench


async def test_each_figure_is_measured_and_nothing_is_left(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(index, "SIZES", (20, 60))
    monkeypatch.setattr(index, "IDLE_S", 0.5)
    monkeypatch.setenv("INTARSIA_CACHE_DIR", "/kept")
    figures = {it.name: it.value for it in await index.measure_index(cast(Bench, None))}
    assert {"index_change_ms", "index_choice_p95_ms", "index_idle_percent"} <= figures.keys()
    assert None not in figures.values()
    assert os.environ["INTARSIA_CACHE_DIR"] == "/kept"
