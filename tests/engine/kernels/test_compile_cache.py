"""Compiled kernels are kept only where no other user may write."""

import os
from pathlib import Path

import pytest

from intarsia.engine.kernels.compile_cache import _safe_folder


def test_a_new_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "kernels" / "digest"
    assert _safe_folder(folder) == folder
    if os.name != "nt":
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_a_folder_that_others_may_write_is_not_used(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    assert _safe_folder(tmp_path) is None


def test_a_folder_that_cannot_be_made_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert _safe_folder(tmp_path / "file" / "digest") is None
