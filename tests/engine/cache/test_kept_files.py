"""A folder of small files: whole or absent, for the user alone, within its limits."""

import os
import stat
import time
from pathlib import Path

import pytest

from intarsia.engine.cache.kept_files import KeptFiles, Limits, remove_all, usage_of

LIMITS = Limits(max_bytes=1000, max_age_s=3600)
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def files(root: Path, subfolder: str = "a", limits: Limits = LIMITS) -> KeptFiles:
    return KeptFiles(root / "kept", subfolder, limits)


def grow_old(kept: KeptFiles, name: str, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(kept.path(name), (then, then))


def test_a_file_is_written_whole_and_for_the_user_alone(tmp_path: Path) -> None:
    kept = files(tmp_path)
    kept.write("x", b"old")
    kept.write("x", b"new")
    assert kept.path("x").read_bytes() == b"new"
    assert [path.name for path in kept.folder.iterdir()] == ["x"], "nothing unfinished is left"
    if os.name != "nt":
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (kept.folder, kept.path("x"))]
        assert modes == [0o700, 0o600]
        assert stat.S_IMODE(kept.folder.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
@pytest.mark.parametrize("mode", [0o755, 0o707])
def test_a_folder_that_others_may_enter_is_not_used(tmp_path: Path, mode: int) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept").chmod(mode)
    with pytest.raises(PermissionError, match="not a folder of yours alone"):
        files(tmp_path).write("x", b"1")


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "kept").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError):
        files(tmp_path).write("x", b"1")
    files(tmp_path).trim()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    kept = files(tmp_path)
    for age, name in ((30, "a"), (20, "b"), (10, "c")):
        kept.write(name, b"x" * 400)
        grow_old(kept, name, age)
    kept.touch(["a"])
    kept.trim()
    assert kept.names("*") == ["c", "a"]


def test_the_budget_is_that_of_all_subfolders(tmp_path: Path) -> None:
    other, kept = files(tmp_path, "old version"), files(tmp_path)
    other.write("x", b"x" * 600)
    grow_old(other, "x", 10)
    kept.write("y", b"y" * 600)
    kept.trim()
    assert kept.names("*") == ["y"]
    assert not other.folder.exists(), "an empty folder is removed too"


def test_what_was_unused_for_long_is_removed(tmp_path: Path) -> None:
    kept = files(tmp_path)
    kept.write("x", b"1")
    kept.write("y", b"1")
    grow_old(kept, "x", 3601)
    kept.trim()
    assert kept.names("*") == ["y"]


def test_files_that_vanish_disturb_nothing(tmp_path: Path) -> None:
    kept = files(tmp_path)
    kept.touch(["x"])
    kept.remove(["x"])
    kept.trim()
    assert kept.names("*") == []
    assert usage_of(tmp_path / "kept").num_files == 0
    remove_all(tmp_path / "kept")


def test_a_write_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = files(tmp_path)
    kept.write("x", b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        kept.write("x", b"new")
    assert [path.name for path in kept.folder.iterdir()] == ["x"]
    assert kept.path("x").read_bytes() == b"old"


def test_what_is_kept_is_counted_and_removed(tmp_path: Path) -> None:
    for subfolder in ("a", "b"):
        files(tmp_path, subfolder).write("x", b"12345")
    usage = usage_of(tmp_path / "kept")
    assert (usage.num_files, usage.num_bytes) == (2, 10)
    remove_all(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
