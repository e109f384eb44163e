"""No secret of a workspace ever reaches the index, however its file comes and goes."""

import re
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePath

from hypothesis import given, settings
from hypothesis import strategies as st
from inline_parser import InlineParser

from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern
from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index.indexer import OwnIndex

EXCLUDE = ("internal/", "*.draft.py", "config/keys_of_ours.py")
IGNORE = "ignored/\n*.gen.py\n"
MARK = re.compile(r"zebrafish(\w+?)quagga")

NAMES = st.sampled_from(
    [
        *("a.py", "b.py", "sub/c.py", "sub/deep/d.js", "e.json", "public/f.py"),
        *(".env.py", ".ENV.js", "auth.json", "Auth.JSON", "secrets/a.py", "sub/SECRETS/b.py"),
        *(".ssh/c.py", "keys/d.py", "sub/private/e.js", "id.key.py", "config/keys_of_ours.py"),
        *("internal/a.py", "sub/Internal/b.py", "x.draft.py", "X.DRAFT.py"),
        *("ignored/a.py", "sub/ignored/b.py", "y.gen.py", "own/c.py", "node_modules/a.py"),
    ]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES),
        st.tuples(st.just("rename"), NAMES, NAMES),
        st.tuples(st.just("link"), NAMES, NAMES),
        st.tuples(st.just("open"), NAMES),
        st.tuples(st.just("close"), NAMES),
        st.tuples(st.just("delete"), NAMES),
        st.tuples(st.just("walk")),
        st.tuples(st.just("update")),
        st.tuples(st.just("ignore own")),
    ),
    min_size=1,
    max_size=14,
)


class Workspace:
    """A folder, an index of it, and what every file holds."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "workspace"
        self.root.mkdir()
        (self.root / ".gitignore").write_text(IGNORE)
        self.databases = folder / "databases"
        own = RootSettings(path=str(self.root), exclude=EXCLUDE)
        self.own = OwnIndex([own], self.databases, lambda on: InlineParser(on, []))
        self.open: dict[str, str] = {}
        self.num_marks = 0
        self.is_own_ignored = False
        self.renamed_into: set[str] = set()

    @classmethod
    @contextmanager
    def opened(cls, folder: Path) -> Iterator["Workspace"]:
        workspace = cls(folder)
        with workspace.own:
            yield workspace

    def do(self, step: tuple[str, ...]) -> None:
        match step:
            case ("write", name):
                path = self._place(name)
                if path.is_symlink():  # its target may be in a folder that is not there
                    path.unlink()
                path.write_text(self._secret())
                self._changed(name)
            case ("rename", name, to) if (self.root / name).is_file() and name != to:
                shutil.move(self.root / name, self._place(to))
                self.renamed_into.add(to)
                self._changed(name, to)
            case ("link", name, to) if name != to:
                self._place(name).unlink(missing_ok=True)
                self._place(name).symlink_to(self.root / to)
                self._changed(name)
            case ("open", name):
                self.open[name] = self._secret()
                self.own.index.open_text(str(self.root / name), self.open[name])
            case ("close", name):
                self.open.pop(name, None)
                self.own.index.open_text(str(self.root / name), None)
            case ("delete", name):
                (self.root / name).unlink(missing_ok=True)
                self._changed(name)
            case ("walk",):
                self.own.index.walk_again()
            case ("update",):
                self.own.update()
            case ("ignore own",):
                (self.root / ".intarsiaignore").write_text("own/\n!secrets/\n!.env.py\n")
                self.is_own_ignored = True
                self._changed(".intarsiaignore")

    def may_be_read(self, name: str) -> bool:
        """Tell by the names alone, without the product's walk and rules of folders."""
        path = PurePath(self.root / name)
        folded = [part.casefold() for part in PurePath(name).parts]
        is_ignored = "ignored" in PurePath(name).parts or name.endswith(".gen.py")
        is_own = self.is_own_ignored and folded[0] == "own"
        return not (
            excluding_pattern(path, SECRETS)
            or "internal" in folded[:-1]
            or folded[-1].endswith(".draft.py")
            or folded == ["config", "keys_of_ours.py"]
            or is_ignored
            or is_own
            or "node_modules" in folded
        )

    def marks_in_files(self, *, may_be_read: bool) -> set[str]:
        """Return the marks of all texts that may be read, or may not."""
        texts = [text for name, text in self.open.items() if self.may_be_read(name) is may_be_read]
        for path in self.root.rglob("*"):
            name = path.relative_to(self.root).as_posix()
            if path.is_file() and not path.is_symlink() and self.may_be_read(name) is may_be_read:
                texts.append(path.read_text())
        return marks_of(texts)

    def public_marks(self) -> set[str]:
        return self.marks_in_files(may_be_read=True)

    def secret_marks(self) -> set[str]:
        """Return the marks of what is in excluded files now, and nowhere else."""
        return self.marks_in_files(may_be_read=False) - self.public_marks()

    def stored_marks(self) -> set[str]:
        """Return the marks that any row of any database has."""
        found = ""
        for path in self.databases.glob("*.sqlite"):
            with closing(sqlite3.connect(path)) as database:
                for symbols, words in database.execute("SELECT symbols, words FROM contents"):
                    found += zlib.decompress(symbols).decode(errors="replace")
                    found += zlib.decompress(words).decode()
                found += repr(database.execute("SELECT name FROM definitions").fetchall())
                found += repr(database.execute("SELECT term FROM word_counts").fetchall())
        return set(MARK.findall(found))

    def _secret(self) -> str:
        self.num_marks += 1
        name = "zebrafish" + "abcdefghij"[self.num_marks % 10] * (self.num_marks // 10 + 1)
        # Each text has a size of its own, as real files mostly do.
        return f"def {name}quagga():\n    return 1\n" + "\n" * self.num_marks

    def _place(self, name: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _changed(self, *names: str) -> None:
        for name in names:
            self.own.index.changed(str(self.root / name))


def marks_of(texts: Iterable[str]) -> set[str]:
    return set(MARK.findall("\n".join(texts)))


def answered_marks(workspace: Workspace) -> set[str]:
    """Return the marks in whatever the index answers."""
    index, answers = workspace.own.index, []
    for path in [*workspace.root.rglob("*"), *(workspace.root / name for name in workspace.open)]:
        answers.append(index.read(str(path)) or "")
        answers.append(repr(index.symbols_of(str(path))))
    for number in range(1, workspace.num_marks + 1):
        mark = "abcdefghij"[number % 10] * (number // 10 + 1)
        name = f"zebrafish{mark}quagga"
        if index.definitions_named(name, limit=5) or index.similar(
            [name], path=str(workspace.root / "_"), limit=5
        ):
            answers.append(name)
    return marks_of(answers)


@settings(max_examples=80)
@given(steps=STEPS)
def test_no_secret_reaches_an_answer_or_a_row(tmp_path_factory, steps):
    with Workspace.opened(tmp_path_factory.mktemp("secrets")) as workspace:
        for step in steps:
            workspace.do(step)
        assert workspace.own.update()
        assert answered_marks(workspace) <= workspace.public_marks()
        assert not workspace.stored_marks() & workspace.secret_marks()
        workspace.own.index.walk_again()
        assert workspace.own.update()
        assert answered_marks(workspace) <= workspace.public_marks()
        if not workspace.open:  # an open text hides that on disk
            assert answered_marks(workspace) == workspace.public_marks()
        assert not workspace.stored_marks() & workspace.secret_marks()


def test_an_open_text_that_an_ignore_file_leaves_out_now_is_forgotten(tmp_path: Path):
    with Workspace.opened(tmp_path) as workspace:
        for step in (("open", "own/c.py"), ("update",), ("ignore own",)):
            workspace.do(step)
        assert workspace.own.update()
        assert answered_marks(workspace) == set()
        assert workspace.stored_marks() == set()


def test_what_holds_a_secret_is_never_shown(tmp_path: Path):
    """Neither saved nor typed; with secrets allowed, it is."""
    root = tmp_path / "workspace"
    root.mkdir()
    key = '{"private_key": "-----BEGIN PRIVATE KEY-----", "hunter2_id": 1}'
    (root / "new.json").write_text(key)
    (root / "open.json").write_text("{}")

    def shown(**settings: bool) -> list[bool]:
        allowed = RootSettings(path=str(root), **settings)
        with OwnIndex([allowed], tmp_path / "databases", lambda on: InlineParser(on, [])) as own:
            own.update()
            own.index.open_text(str(root / "open.json"), key)
            early = own.index.read(str(root / "open.json"))
            own.update()
            late = [own.index.read(str(root / name)) for name in ("new.json", "open.json")]
            found = own.index.similar(["hunter2_id"], path=str(root / "a.py"), limit=5)
            return [early == key, *(it == key for it in late), bool(found)]

    assert shown() == [False] * 4
    assert shown(exclude_secrets=False) == [True] * 4


def test_the_property_can_fail(tmp_path: Path):
    """With secrets allowed, they are found: the marks are looked for in the right places."""
    with Workspace.opened(tmp_path) as workspace:
        settings = RootSettings(path=str(workspace.root), exclude_secrets=False)
        workspace.own.index.open_roots([settings])
        for name in ("secrets/a.py", "a.py"):
            workspace.do(("write", name))
        assert workspace.own.update()
        assert len(answered_marks(workspace) - workspace.public_marks()) == 1
        assert len(workspace.stored_marks() & workspace.secret_marks()) == 1
