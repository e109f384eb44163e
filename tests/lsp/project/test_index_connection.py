"""Which folders the index gets, and what it may not read there."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from intarsia.lsp.project.index_connection import IndexConnection
from intarsia.lsp.settings import Settings
from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.process.client import IndexClient

OFF = [Settings(project_context=False), Settings(enabled=False)]


@pytest.mark.parametrize("off", OFF)
def test_a_folder_that_is_off_is_not_indexed_as_a_part_of_another(
    off: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Sequence[RootSettings]] = []

    def open_roots(_: IndexClient, roots: Sequence[RootSettings], **__: Any) -> None:
        told.append(roots)

    monkeypatch.setattr(IndexClient, "open_roots", open_roots)
    outer, inner, apart = Path("/work"), Path("/work/inner"), Path("/works")
    IndexConnection().open({outer: Settings(), inner: off, apart: Settings()})
    ((one, two),) = told
    assert (one.path, one.excluded_paths) == ("/work", ("/work/inner",))
    assert (two.path, two.excluded_paths) == ("/works", ())
