"""The walk finds the files that may be read, and ends."""

from pathlib import Path

import pytest

from intarsia.workspace.files import walk as walk_module
from intarsia.workspace.files.file_rules import FileRules
from intarsia.workspace.files.root_settings import RootSettings
from intarsia.workspace.files.walk import Walk, distance


def made(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")


def walked(root: Path, *near: str) -> list[str]:
    rules = FileRules(RootSettings(path=str(root)), lambda name: name.endswith(".py"))
    walk, found = Walk(rules, near=[(root / name).as_posix() for name in near]), []
    while not walk.is_done:
        found += [Path(file.path).relative_to(root).as_posix() for file in walk.step()]
    return found


def test_all_files_that_may_be_read_are_found_with_size_and_time(tmp_path: Path):
    made(tmp_path, "a.py", "b/c.py", "b/d.txt", "node_modules/e.py", "secrets/f.py", "env/g.py")
    made(tmp_path, "b/h.gen.py", "env/pyvenv.cfg")
    (tmp_path / ".gitignore").write_text("*.gen.py\n")
    assert sorted(walked(tmp_path)) == ["a.py", "b/c.py"]
    rules = FileRules(RootSettings(path=str(tmp_path)), lambda name: name == "a.py")
    (file,) = Walk(rules).step()
    status = (tmp_path / "a.py").stat()
    assert (file.num_bytes, file.mtime_ns) == (status.st_size, status.st_mtime_ns)


def test_links_are_not_followed_and_cycles_end(tmp_path: Path):
    root = tmp_path / "root"
    made(root, "a.py", "sub/b.py")
    made(tmp_path, "outside/secret.py")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "sub" / "up").symlink_to(root)
    (root / "c.py").symlink_to(tmp_path / "outside" / "secret.py")
    assert sorted(walked(root)) == ["a.py", "sub/b.py"]


def test_the_folders_nearest_to_open_files_come_first(tmp_path: Path):
    made(tmp_path, "far/a.py", "near/b.py", "near/inner/c.py", "z.py")
    found = walked(tmp_path, "near/inner/c.py")
    assert found.index("near/inner/c.py") < found.index("far/a.py")
    assert found.index("near/b.py") < found.index("far/a.py")


def test_the_number_of_files_and_of_entries_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made(tmp_path, *(f"many/{n}.py" for n in range(30)), *(f"few/{n}.py" for n in range(10)))
    monkeypatch.setattr(walk_module, "MAX_ENTRIES", 20)
    assert len(walked(tmp_path)) == 10
    monkeypatch.setattr(walk_module, "MAX_FILES", 7)
    assert len(walked(tmp_path)) == 7


def test_a_folder_that_vanishes_or_may_not_be_listed_is_left_out(tmp_path: Path):
    made(tmp_path, "a.py", "locked/b.py")
    (tmp_path / "locked").chmod(0)
    try:
        assert "a.py" in walked(tmp_path)
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert walked(tmp_path / "missing") == []


def test_a_name_that_is_not_unicode_is_left_out(tmp_path: Path):
    made(tmp_path, "a.py")
    try:
        (tmp_path / "\udcff.py").write_text("x = 1\n")
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system takes only Unicode names")
    assert walked(tmp_path) == ["a.py"]


def test_distance_counts_steps_up_and_down():
    assert distance("/r/a/b", ["/r/a/b"]) == 0
    assert distance("/r/a", ["/r/a/b"]) == 1
    assert distance("/r/c", ["/r/a/b", "/r/c/d"]) == 1
    assert distance("/r/c", ["/r/a/b"]) == 3
