"""``intarsia forget`` deletes the kept contexts and nothing else; ``doctor`` says what is kept."""

from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.doctor.model import check_contexts
from intarsia.engine.cache.folder import contexts_folder
from intarsia.engine.cache.kept_files import KeptFiles, Limits


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeptFiles:
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path))
    (tmp_path / "models").mkdir()
    return KeptFiles(contexts_folder(), "model", Limits(max_bytes=10**9, max_age_s=60))


def test_what_is_kept_is_deleted_and_models_stay(kept: KeptFiles, tmp_path: Path) -> None:
    kept.write("x", b"x" * 2_000_000)
    assert f"2 MB in {contexts_folder()}" in check_contexts().found
    result = run("forget")
    assert (result.exit_code, result.stdout) == (0, f"Deleted 2 MB of {contexts_folder()}.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["models"]


def test_nothing_kept_is_said(kept: KeptFiles) -> None:
    assert run("forget").stdout == "Nothing was kept.\n"
    assert str(contexts_folder()) in check_contexts().found


def test_a_folder_that_cannot_be_deleted_is_said(kept: KeptFiles, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    contexts_folder().symlink_to(elsewhere)
    result = run("forget")
    assert result.exit_code == 5
    assert "delete the folder yourself" in result.stderr
    assert elsewhere.exists()
