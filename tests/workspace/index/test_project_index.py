"""What the index knows of the opened folders, and how it keeps up with them."""

import sqlite3
import stat
from pathlib import Path
from unittest.mock import Mock

import pytest

from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index import store
from intarsia.workspace.index.indexer import OwnIndex

SESSION = '''
class Session:
    """Holds the user's token."""

    def refresh(self, token: str) -> bool:
        return bool(token)
'''
OTHER = "def parse_http_header(line):\n    name, value = line.split(':')\n    return name, value\n"


def written(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def paths_of(own: OwnIndex, name: str) -> list[str]:
    return [Path(found.path).name for found in own.index.definitions_named(name, limit=10)]


def test_definitions_symbols_names_and_passages_are_found(root: Path, open_roots):
    written(root, {"app/session.py": SESSION, "app/http.py": OTHER, "docs/session.js": "let a;\n"})
    index = open_roots(root).index
    session = (root / "app/session.py").as_posix()
    (found,) = index.definitions_named("refresh", limit=5)
    assert (found.path, found.definition.container) == (session, "Session")
    symbols = index.symbols_of(session)
    assert [it.name for it in symbols.definitions] == ["Session", "refresh"]
    assert index.files_named("session") == [session, (root / "docs/session.js").as_posix()]
    assert index.root_of(session) == root.as_posix()
    assert index.root_of("/elsewhere/a.py") is None
    passage, *_ = index.similar(["parseHeaders", "value"], path=session, limit=3)
    assert passage.path == (root / "app/http.py").as_posix()
    assert (passage.start_line, passage.end_line) == (0, 4)
    assert passage.score > 0
    assert index.read(session) == SESSION


def test_what_is_not_indexed_is_unknown(root: Path, open_roots):
    written(root, {"a.py": "x = 1\n", "b.min.js": "let a;\n", "c.txt": "c"})
    index = open_roots(root).index
    for name in ("b.min.js", "c.txt", "missing.py", "../outside.py"):
        path = (root / name).as_posix()
        assert index.symbols_of(path) is None
        assert index.read(path) is None
    assert index.definitions_named("nothing", limit=3) == []
    path = (root / "a.py").as_posix()
    assert index.similar(["nothing", "", "\0", '"', "AND OR NOT"], path=path, limit=3) == []


def test_the_more_similar_passage_comes_first(root: Path, open_roots):
    filler = {f"m{n}.py": f"def unrelated_{n}(argument_{n}):\n    pass\n" for n in range(30)}
    written(root, {**filler, "one.py": "def load_cat(fish): pass\n"})
    written(root, {"two.py": "def load_cat(fish):\n    return eat_fish(purr_loud)\n"})
    index = open_roots(root).index
    words = ["eatFish", "purr_loud", "load_cat"]
    found = index.similar(words, path=str(root / "m1.py"), limit=5)
    assert [Path(it.path).name for it in found] == ["two.py", "one.py"]
    assert found[0].score > found[1].score


def test_passages_of_other_folders_push_out_none_of_this_one(tmp_path: Path, open_roots):
    """Nor do those of the file itself."""
    here, other = tmp_path / "here", tmp_path / "other"
    good = "def load_cat(fish):\n    return eat_fish(purr_loud)\n"
    written(here, {"own.py": good * 200, "one.py": "def load_cat(fish): pass\n"})
    written(other, {f"m{n}.py": f"{good}x = {n}\n" for n in range(30)})
    index = open_roots(here, other).index
    words = ["eat_fish", "purr_loud", "load_cat"]
    found = index.similar(words, path=(here / "own.py").as_posix(), limit=3)
    assert [it.path for it in found] == [(here / "one.py").as_posix()]
    elsewhere = index.similar(words, path=str(other / "new.py"), limit=3)
    assert {Path(it.path).parent for it in elsewhere} == {other}
    assert len(elsewhere) == 3
    assert index.similar(words, path="/no/opened/folder.py", limit=3) == []


def test_definitions_in_other_folders_push_out_none(tmp_path: Path, open_roots):
    here, other = tmp_path / "a", tmp_path / "longer"
    written(here, {"one.py": "def f(): pass\n"})
    written(other, {f"m{n}.py": f"def f(x={n}): pass\n" for n in range(5)})
    own = open_roots(here, other)
    found = [Path(it.path).name for it in own.index.definitions_named("f", limit=3)]
    assert len(found) == 4
    assert "one.py" in found


@pytest.mark.parametrize("is_told", [True, False])
def test_changed_new_and_deleted_files_are_noticed(root: Path, open_roots, is_told: bool):
    written(root, {"a.py": "def old(): pass\n", "b.py": "def gone(): pass\n"})
    own = open_roots(root)
    written(root, {"a.py": "def young(): pass\n", "c.py": "def born(): pass\n"})
    (root / "b.py").unlink()
    for name in ("a.py", "b.py", "c.py") if is_told else ():
        own.index.changed(str(root / name))
    if not is_told:
        own.index.walk_again()
    own.update()
    known = {name: paths_of(own, name) for name in ("old", "young", "gone", "born")}
    assert known == {"old": [], "young": ["a.py"], "gone": [], "born": ["c.py"]}


def test_a_folder_that_is_renamed_is_looked_at_again(root: Path, open_roots):
    written(root, {"one/a.py": "def f(): pass\n"})
    own = open_roots(root)
    (root / "one").rename(root / "two")
    own.index.changed(str(root / "one"))
    own.index.changed(str(root / "two"))
    own.update()
    assert own.index.files_named("a") == [(root / "two/a.py").as_posix()]


def test_switching_a_branch_and_back_parses_nothing_twice(root, open_roots, parsed_texts):
    main = {f"m{n}.py": f"def main_{n}(): pass\n" for n in range(10)}
    branch = {name: text.replace("main", "branch") for name, text in main.items()}
    written(root, main)
    own = open_roots(root)
    for files in (branch, main, branch):
        written(root, files)
        own.index.walk_again()
        own.update()
    assert paths_of(own, "branch_3") == ["m3.py"]
    assert paths_of(own, "main_3") == []
    assert sorted(parsed_texts) == sorted([*main.values(), *branch.values()])


def test_an_index_that_is_opened_again_parses_only_what_changed(root, open_roots, parsed_texts):
    written(root, {"a.py": "def f(): pass\n", "b.py": "def g(): pass\n"})
    open_roots(root).close()
    written(root, {"b.py": "def g2(): pass\n"})
    parsed_texts.clear()
    own = open_roots(root)
    assert parsed_texts == ["def g2(): pass\n"]
    assert paths_of(own, "f") == ["a.py"]


def test_the_text_of_an_open_file_wins_over_the_disk(root: Path, open_roots):
    written(root, {"a.py": "def saved(): pass\n"})
    own, path = open_roots(root), str(root / "a.py")
    own.index.open_text(path, "def unsaved(): pass\n")
    own.update()
    assert (paths_of(own, "saved"), paths_of(own, "unsaved")) == ([], ["a.py"])
    assert own.index.read(path) == "def unsaved(): pass\n"
    own.index.walk_again()
    own.update()
    assert paths_of(own, "unsaved") == ["a.py"]
    own.index.open_text(path, None)
    own.update()
    assert (paths_of(own, "saved"), paths_of(own, "unsaved")) == (["a.py"], [])
    assert own.index.read(path) == "def saved(): pass\n"


def test_a_new_file_that_is_not_saved_yet_is_known(root: Path, open_roots):
    own = open_roots(root)
    own.index.open_text(str(root / "new.py"), "def fresh(): pass\n")
    own.update()
    assert paths_of(own, "fresh") == ["new.py"]


def test_an_ignore_file_that_changes_is_followed(root: Path, open_roots):
    written(root, {"a.py": "def f(): pass\n", "gen/b.py": "def g(): pass\n"})
    own = open_roots(root)
    written(root, {".gitignore": "gen/\n"})
    own.index.changed(str(root / ".gitignore"))
    own.update()
    assert (paths_of(own, "f"), paths_of(own, "g")) == (["a.py"], [])
    (root / ".gitignore").unlink()
    own.index.changed(str(root / ".gitignore"))
    own.update()
    assert paths_of(own, "g") == ["b.py"]


def test_several_folders_have_their_own_settings(tmp_path: Path, open_roots):
    written(tmp_path / "one", {"a.py": "def f(): pass\n", "skip/b.py": "def f(): pass\n"})
    written(tmp_path / "two", {"c.py": "def f(): pass\n", "skip/d.py": "def f(): pass\n"})
    own = open_roots(RootSettings(path=str(tmp_path / "one"), exclude=("skip/",)), tmp_path / "two")
    assert sorted(paths_of(own, "f")) == ["a.py", "c.py", "d.py"]
    assert own.index.root_of(str(tmp_path / "two/c.py")) == (tmp_path / "two").as_posix()


def test_a_folder_inside_another_opened_folder_is_indexed_once(tmp_path: Path, open_roots):
    written(tmp_path / "outer", {"a.py": "def f(): pass\n", "inner/b.py": "def f(): pass\n"})
    own = open_roots(tmp_path / "outer", tmp_path / "outer" / "inner")
    assert sorted(paths_of(own, "f")) == ["a.py", "b.py"]
    inner = (tmp_path / "outer" / "inner").as_posix()
    assert own.index.root_of(f"{inner}/b.py") == inner


def test_settings_that_change_are_followed(root: Path, open_roots):
    written(root, {"a.py": "def f(): pass\n", "b.py": "def f(): pass\n"})
    own = open_roots(root)
    own.index.open_roots([RootSettings(path=str(root), exclude=("b.py",))])
    own.update()
    assert paths_of(own, "f") == ["a.py"]
    own.index.open_roots([])
    assert paths_of(own, "f") == []


def test_a_file_is_read_as_it_is_now_and_judged_again(root: Path, open_roots):
    written(root, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    index = open_roots(root).index
    (root / "a.py").write_text("x = 2\n")
    assert index.read(str(root / "a.py")) == "x = 2\n"
    (root / "a.py").write_text("x = 2\n" * 200_000)
    assert index.read(str(root / "a.py")) is None
    (root / "b.py").unlink()
    (root / "b.py").symlink_to("/etc/passwd")
    assert index.read(str(root / "b.py")) is None


def test_the_database_is_outside_of_the_workspace_and_for_the_user_alone(
    root, tmp_path, open_roots
):
    written(root, {"a.py": "x = 1\n"})
    open_roots(root)
    assert [path.name for path in root.rglob("*")] == ["a.py"]
    databases = tmp_path / "databases"
    assert stat.S_IMODE(databases.stat().st_mode) == 0o700
    files = list(databases.iterdir())
    assert len(files) >= 1
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_no_line_of_a_source_is_stored(root: Path, tmp_path: Path, open_roots):
    written(root, {"a.py": "def f():\n    total = compute(price) * quantity\n    return total\n"})
    open_roots(root).close()
    stored = b"".join(path.read_bytes() for path in (tmp_path / "databases").iterdir())
    assert b"compute(price)" not in stored
    assert b"return total" not in stored
    assert b"quantity" in stored  # its words are


@pytest.mark.parametrize(
    "error", [PermissionError(13, "denied"), sqlite3.OperationalError("readonly database")]
)
def test_without_the_right_to_write_there_is_no_index_and_no_error(
    root, open_roots, monkeypatch, error
):
    """A user's rights are not taken away here: root would have them all the same."""
    monkeypatch.setattr(store, "open_database", Mock(side_effect=error))
    written(root, {"a.py": "def f(): pass\n"})
    own = open_roots(root)
    assert paths_of(own, "f") == []
    assert own.index.counts().faults != ()


def test_a_cache_folder_that_is_a_file_pauses_the_index(root, tmp_path, open_roots):
    written(root, {"a.py": "def f(): pass\n"})
    (tmp_path / "databases").write_text("")
    own = open_roots(root)
    assert paths_of(own, "f") == []
    assert "is paused" in own.index.counts().faults[0]


def test_what_the_settings_exclude_now_is_unknown_before_the_next_walk(root, open_roots):
    written(root, {"app/session.py": SESSION})
    own = open_roots(root)
    session = (root / "app/session.py").as_posix()
    assert own.index.may_read(session)
    own.index.open_roots([RootSettings(path=root.as_posix(), exclude=("session.py",))])
    assert own.index.symbols_of(session) is None
    assert paths_of(own, "refresh") == []
    assert own.index.read(session) is None
    assert not own.index.may_read(session)
