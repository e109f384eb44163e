"""Indexes of small workspaces, with their databases in a folder of the test."""

from pathlib import Path

import pytest
from inline_parser import InlineParser

from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index.indexer import OwnIndex


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def parsed_texts() -> list[str]:
    """Every text that was given to a parser."""
    return []


@pytest.fixture
def open_roots(tmp_path: Path, parsed_texts: list[str]):
    """Return up-to-date indexes of folders; their databases outlive them."""
    opened: list[OwnIndex] = []

    def open_some(*roots: Path | RootSettings) -> OwnIndex:
        settings = [
            it if isinstance(it, RootSettings) else RootSettings(path=str(it)) for it in roots
        ]
        own = OwnIndex(settings, tmp_path / "databases", lambda on: InlineParser(on, parsed_texts))
        opened.append(own)
        assert own.update()
        return own

    yield open_some
    for own in opened:
        own.close()
