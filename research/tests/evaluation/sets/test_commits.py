"""Holes of commits, in a repository made for each test."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from intarsia.infill.canvas import Budget
from intarsia.infill.filling.plan import FillOptions, FillPlan
from intarsia.workspace.context.chunk import ChunkOptions
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.sets.commits import CommitSource, commit_cases
from intarsia_research.evaluation.sets.git_history import GitHistory
from intarsia_research.evaluation.systems.client import plan_case
from intarsia_research.holes.cut_project import CutProjects

_NAMES = ("NAME", "EMAIL")


class Clone:
    """A repository in a new folder. The user's settings of git do not matter."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        author = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in _NAMES}
        env = os.environ | author | {"GIT_CONFIG_GLOBAL": os.devnull}
        return subprocess.run(
            ["git", *words], cwd=self.folder, env=env, capture_output=True, text=True, check=True
        ).stdout.strip()

    def commit(self, **texts: str) -> str:
        """Write Python files by the names of their modules, and return the commit."""
        return self.commit_files({f"{name}.py": text for name, text in texts.items()})

    def commit_files(self, texts: Mapping[str, str]) -> str:
        """Write files by their paths, and return the commit."""
        for path, text in texts.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change")
        return self.git("rev-parse", "HEAD")


SHOP = "class Shop:\n    def __init__(self):\n        self.name = 'x'\n"
DISCOUNT = "\n    def discount_for(self, customer):\n        return customer.years * 2\n"
TILL = "from shop import Shop\n\n\ndef pay(shop, customer, price):\n    return price\n"
PAY = "    return price - shop.discount_for(customer)\n"


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """A repository whose newest commit adds a method in one file and calls it in another."""
    clone = Clone(tmp_path / "clone")
    clone.commit(shop=SHOP, till=TILL, other="x = 1\n")
    clone.commit(shop=SHOP + DISCOUNT, till=TILL.replace("    return price\n", PAY))
    return clone


def cases_of(clone: Clone, revision: str = "HEAD", limit: int = 9) -> list[Case]:
    source = CommitSource(
        repository=clone.folder, cache=clone.folder.parent / "cache", revision=revision
    )
    return commit_cases(source, languages=None, kinds=None, limit=limit, seed=7)


def test_a_hole_begins_with_a_name_that_the_commit_wrote_in_another_file_too(clone: Clone) -> None:
    at_call = next(case for case in cases_of(clone) if case.path == "till.py")
    assert at_call.name == "discount_for"
    assert at_call.truth == "discount_for(customer)"
    assert at_call.filled(at_call.truth) == TILL.replace("    return price\n", PAY)
    (edit,) = at_call.recent_edits
    assert Path(edit.path).name == "shop.py"
    lines = edit.text.split("\n")[edit.start_line : edit.end_line]
    assert "\n".join(lines).strip("\n") == DISCOUNT.strip("\n")


def test_the_same_clone_and_seed_give_the_same_holes(clone: Clone) -> None:
    assert cases_of(clone) == cases_of(clone)
    assert cases_of(clone, limit=1) == cases_of(clone)[:1]


def test_the_last_edits_of_a_commit_are_read_as_a_chunk(clone: Clone) -> None:
    case = next(case for case in cases_of(clone) if case.path == "till.py")
    options = FillOptions(budget=Budget(prefix_tokens=500, suffix_tokens=150))
    plan = plan_case(case, options)
    assert isinstance(plan, FillPlan) and case.root is not None
    projects = CutProjects()
    try:
        edits = ChunkOptions(kinds=frozenset({"recent_edit"}))
        (chunk,) = projects.chunks(case.root, case.path, plan, edits, case.recent_edits)
        assert chunk.kind == "recent_edit" and "def discount_for(self, customer)" in chunk.text
        assert not projects.chunks(case.root, case.path, plan, edits)
    finally:
        projects.close()


def test_the_tree_has_no_links_and_no_other_files(clone: Clone, tmp_path: Path) -> None:
    (clone.folder / "secret.py").symlink_to("/etc/passwd")
    (clone.folder / "picture.png").write_bytes(b"\x89PNG")
    (clone.folder / "latin.py").write_bytes(b"x = '\xe9'\n")
    (clone.folder / ".gitignore").write_text("build/\n")
    commit = clone.commit(more="y = 1\n")
    GitHistory(clone.folder).write_sources(commit, tmp_path / "tree")
    written = sorted(file.name for file in (tmp_path / "tree").rglob("*") if file.is_file())
    assert written == [".gitignore", "more.py", "other.py", "shop.py", "till.py"]


def test_commits_of_one_file_rewrites_and_merges_have_no_holes(clone: Clone) -> None:
    start = clone.git("rev-parse", "HEAD~1")
    only_one = clone.commit(shop=SHOP + DISCOUNT + "\n    def one(self): ...\n")
    assert [case.id for case in cases_of(clone, only_one)] == [case.id for case in cases_of(clone)]
    with pytest.raises(EvaluationFault, match="has no commit with such a hole"):
        cases_of(clone, start)
    many = "".join(f"value_{number} = {number}\n" for number in range(200))
    rewritten = clone.commit(shop=many, other="print(value_7)\n")
    assert all(rewritten[:12] not in case.id for case in cases_of(clone, rewritten))


def test_changed_files_are_plain_files_of_any_name(clone: Clone) -> None:
    """Links and submodules are none, whatever their names are."""
    names = ["a b.py", 'q"é.py', "\nline.py", ":100644 100644 a b M.py"]
    for text in ("x = 1\n", "x = 1\ny = 2\n"):
        for name in names:
            (clone.folder / name).write_text(text)
        (clone.folder / "link.py").unlink(missing_ok=True)
        (clone.folder / "link.py").symlink_to(f"to-{len(text)}")
        head = clone.git("rev-parse", "HEAD")
        clone.git("update-index", "--add", "--cacheinfo", f"160000,{head},three.js")
        clone.git("--literal-pathspecs", "add", "--", *names, "link.py")
        clone.git("commit", "-q", "-m", "change")
    clone.git("config", "log.showSignature", "true")
    commit = next(GitHistory(clone.folder).newest_commits(1, "HEAD"))
    assert list(commit.changed) == sorted(names)
    texts = GitHistory(clone.folder).texts(commit.id, [*names, "three.js", "gone.py", "."])
    assert texts == {name: "x = 1\ny = 2\n" for name in names if "\n" not in name}


def test_a_repository_read_from_a_folder_in_it_is_read_from_its_root(clone: Clone) -> None:
    (clone.folder / "part").mkdir()
    clone.git("config", "diff.relative", "true")
    inside = CommitSource(repository=clone.folder / "part", cache=clone.folder.parent / "cache")
    cases = commit_cases(inside, languages=None, kinds=None, limit=9, seed=7)
    assert [case.id for case in cases] == [case.id for case in cases_of(clone)]


def test_a_branch_may_have_the_name_of_a_file(clone: Clone) -> None:
    clone.git("branch", "shop.py")
    assert cases_of(clone, "shop.py") == cases_of(clone)


def test_two_runs_may_write_the_same_tree(clone: Clone, tmp_path: Path, monkeypatch):
    """Else a second copy of each file would have the text of its holes."""
    history, tree = GitHistory(clone.folder), tmp_path / "tree"
    texts = history.texts

    def texts_while_another_run_writes(commit: str, paths: Sequence[str]) -> Mapping[str, str]:
        found = texts(commit, paths)
        GitHistory(clone.folder).write_sources(commit, tree)
        return found

    monkeypatch.setattr(history, "texts", texts_while_another_run_writes)
    history.write_sources(clone.git("rev-parse", "HEAD"), tree)
    assert sorted(file.name for file in tree.iterdir()) == ["other.py", "shop.py", "till.py"]


def test_other_kinds_are_refused(clone: Clone) -> None:
    source = CommitSource(repository=clone.folder, cache=clone.folder.parent / "cache")
    with pytest.raises(EvaluationFault, match="are of the kind rest_of_line"):
        commit_cases(source, languages=None, kinds=["block"], limit=9, seed=7)


def test_a_shallow_clone_gives_the_commits_that_it_has(clone: Clone, tmp_path: Path) -> None:
    url = clone.folder.as_uri()
    clone.git("clone", "-q", "--depth", "1", url, str(tmp_path / "one"))
    assert list(GitHistory(tmp_path / "one").newest_commits(9, "HEAD")) == []
    clone.git("clone", "-q", "--depth", "2", url, str(tmp_path / "two"))
    (commit,) = GitHistory(tmp_path / "two").newest_commits(9, "HEAD")
    assert list(commit.changed) == ["shop.py", "till.py"]


def test_what_is_no_repository_is_said_so(tmp_path: Path, clone: Clone) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(EvaluationFault, match="has no such commits"):
        list(GitHistory(tmp_path / "plain").newest_commits(5, "HEAD"))
    with pytest.raises(EvaluationFault, match="has no such commits"):
        list(GitHistory(clone.folder).newest_commits(5, "--output=/tmp/x"))
    with pytest.raises(EvaluationFault, match="bad revision 'gone'"):
        list(GitHistory(clone.folder).newest_commits(5, "gone"))
