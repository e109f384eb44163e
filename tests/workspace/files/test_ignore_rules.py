"""Ignore files mean what they mean to git, and .intarsiaignore wins."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.workspace.files.file_rules import FileRules
from intarsia.workspace.files.paths import RootSettings


def written(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def rules_of(root: Path) -> FileRules:
    return FileRules(RootSettings(path=str(root), exclude_secrets=False), lambda _: True)


def is_ignored(root: Path, name: str) -> bool:
    reason = rules_of(root).why_not((root / name).as_posix())
    assert reason in (None, "ignored by an ignore file"), reason
    return reason is not None


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    return root


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the rules read the settings of git that ``git`` reads."""
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))


def git(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)


def git_ignores(root: Path, name: str) -> bool:
    return git(root, "check-ignore", "-q", "--no-index", name).returncode == 0


CASES = [
    ({".gitignore": "*.log.py\n!keep.log.py\n"}, ["a.log.py", "keep.log.py", "sub/a.log.py"]),
    ({".gitignore": "/top.py\n"}, ["top.py", "sub/top.py"]),
    ({".gitignore": "gen/\n"}, ["gen/a.py", "sub/gen/a.py", "gen.py"]),
    ({".gitignore": "gen/\n!gen/keep.py\n"}, ["gen/keep.py"]),
    ({".gitignore": "gen/*\n!gen/keep.py\n"}, ["gen/keep.py", "gen/other.py"]),
    ({".gitignore": "a/**/b.py\n"}, ["a/b.py", "a/x/y/b.py", "b.py"]),
    ({".gitignore": "**/deep/*.py\n"}, ["deep/a.py", "x/deep/a.py", "x/deep/y/a.py"]),
    ({".gitignore": "*.py\n", "sub/.gitignore": "!a.py\n"}, ["a.py", "sub/a.py", "sub/b.py"]),
    ({".gitignore": "sub/a.py\n", "sub/.gitignore": "!a.py\n"}, ["sub/a.py"]),
    ({"sub/.gitignore": "/x.py\n"}, ["x.py", "sub/x.py", "sub/y/x.py"]),
    ({".gitignore": "# note\n\\#a.py\n\\!b.py\n"}, ["#a.py", "!b.py", "note"]),
    ({".gitignore": "[ab].py\nc?.py\n"}, ["a.py", "c1.py", "c.py", "d.py"]),
    ({".gitignore": "a.py   \nb.py\\ \n"}, ["a.py", "b.py"]),
    ({".gitignore": "*\n!*/\n!*.py\n"}, ["a.py", "sub/b.py", "sub/c.txt"]),
    ({".git/info/exclude": "local.py\n"}, ["local.py", "sub/local.py", "other.py"]),
    ({".git/info/exclude": "a.py\n", ".gitignore": "!a.py\n"}, ["a.py"]),
    ({".gitignore": "\ufeffa.py\r\nb.py\r\n"}, ["b.py", "c.py"]),
    ({".gitignore": "a/**/\n", "a/a": "", "a/b/c": ""}, ["a/a", "a/b/c"]),  # it names folders
    ({".gitignore": "a***b***c***d.py\n"}, ["a1b2c3d.py", "a1.py"]),
]


@pytest.mark.parametrize(("files", "names"), CASES)
def test_a_rule_means_what_it_means_to_git(repository, files, names):
    written(repository, files)
    for name in names:
        assert is_ignored(repository, name) == git_ignores(repository, name), name


PARTS = st.sampled_from(["a", "b", "gen", "x.py", "y.py"])
PATTERNS = st.builds(
    lambda negated, rooted, parts, is_folder: (
        f"{'!' * negated}{'/' * rooted}{'/'.join(parts)}{'/' * is_folder}"
    ),
    st.booleans(),
    st.booleans(),
    st.lists(st.sampled_from(["a", "b", "gen", "x.py", "*.py", "**", "*"]), min_size=1, max_size=3),
    st.booleans(),
)


@settings(max_examples=60)
@given(
    rules=st.dictionaries(
        st.sampled_from(["", "a/", "a/b/", "gen/"]), st.lists(PATTERNS, max_size=4), max_size=3
    ),
    names=st.lists(
        st.lists(PARTS, min_size=1, max_size=3).map("/".join), min_size=1, max_size=4, unique=True
    ),
)
def test_any_rules_mean_what_they_mean_to_git(tmp_path_factory, rules, names):
    root = tmp_path_factory.mktemp("repository")
    git(root, "init", "-q")
    written(root, {f"{at}.gitignore": "\n".join(lines) + "\n" for at, lines in rules.items()})
    for name in names:
        if not (root / name).is_dir():
            assert is_ignored(root, name) == git_ignores(root, name), (name, rules)


def test_rules_of_the_folders_around_an_opened_one_hold_too(repository: Path):
    written(repository, {".gitignore": "*.gen.py\n", "part/.gitignore": "/b.py\n"})
    assert is_ignored(repository / "part", "a.gen.py")
    assert is_ignored(repository / "part" / "inner", "a.gen.py")
    assert not is_ignored(repository / "part" / "inner", "b.py")


def test_a_linked_work_tree_has_the_exclude_file_of_its_repository(repository, tmp_path):
    author = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    git(repository, *author, "commit", "-q", "--allow-empty", "-m", "a")
    linked = tmp_path / "linked"
    assert git(repository, "worktree", "add", "-q", str(linked)).returncode == 0
    written(repository, {".git/info/exclude": "local.py\n"})
    assert is_ignored(linked, "local.py")
    assert git_ignores(linked, "local.py")


USER_SETTINGS = [
    ({"git/ignore": "scratch/\n*.local.py\n"}, True),
    ({".gitconfig": "[core]\n\tExcludesFile = ~/mine # all\n", "mine": "*.local.py\n"}, True),
    ({".gitconfig": '[Core] excludesfile="~/my \\"own\\"" ;x\n', 'my "own"': "scratch\n"}, True),
    ({"git/config": "[core]\nexcludesfile=~/mine\n", "mine": "scratch/\n*.local.py\n"}, True),
    ({".gitconfig": "[core]\nexcludesfile=~/mine\n", "git/ignore": "*.py\n"}, False),
    ({".gitconfig": "[include]\npath = b\n", "b": "[core]\nexcludesfile=~/m\n", "m": "*\n"}, True),
    ({".gitconfig": '[core "x"]\nexcludesfile=~/m\n[alias]\ncore = excludesfile\n'}, False),
    ({"repository/.git/config": "[core]\nexcludesfile=../m\n", "m": "scratch/\n"}, None),
]


@pytest.mark.parametrize(("files", "has_rules"), USER_SETTINGS)
def test_the_users_own_ignore_file_counts_in_each_repository(
    repository, tmp_path, files, has_rules
):
    """A repository's own settings name none: the folder would choose a file of the user."""
    git(repository, "init", "-q", "inner")
    written(tmp_path, files)
    for inside in ("", "inner"):
        names = ("scratch/a.py", "a.local.py", "b.py")
        ignored = [is_ignored(repository, f"{inside}/{name}".strip("/")) for name in names]
        if has_rules is not None:
            assert ignored == [git_ignores(repository / inside, name) for name in names]
        assert any(ignored) == bool(has_rules)


def test_git_follows_a_link_to_the_users_ignore_file(repository: Path, tmp_path: Path):
    written(tmp_path, {"dotfiles": "a.py\n", "git/config": ""})
    (tmp_path / "git/ignore").symlink_to(tmp_path / "dotfiles")
    assert is_ignored(repository, "a.py")
    assert git_ignores(repository, "a.py")


def test_a_repository_inside_of_another_has_its_own_exclude_file(repository: Path):
    git(repository, "init", "-q", "deep/inner")
    written(
        repository,
        {
            "deep/inner/.git/info/exclude": "/local.py\nkept.py\n",
            "deep/inner/.gitignore": "!kept.py\n",
            ".git/info/exclude": "outer.py\n",
        },
    )
    for name, expected in (("local.py", True), ("kept.py", False), ("a/local.py", False)):
        assert is_ignored(repository, f"deep/inner/{name}") == expected
        assert git_ignores(repository / "deep/inner", name) == expected
    assert is_ignored(repository, "deep/outer.py")
    assert not is_ignored(repository, "local.py")


@pytest.mark.parametrize("name", [".gitignore", ".intarsiaignore", ".git/info/exclude"])
def test_too_long_an_ignore_file_ignores_all_of_its_folder(repository: Path, name: str):
    written(repository, {name: "# a comment of a line\n" * 15_000})
    assert is_ignored(repository, "sub/a.py")


@pytest.mark.parametrize(
    ("git_rules", "own_rules", "name", "expected"),
    [
        ("", "a.py\n", "a.py", True),
        ("a.py\n", "!a.py\n", "a.py", False),
        ("api/\n", "!api/\n", "api/a.py", False),
        ("api/\n", "!api/\napi/big.py\n", "api/big.py", True),
        ("api/\n", "!api/a.py\n", "api/a.py", True),  # as in git: its folder is ignored
        ("!a.py\n", "a.py\n", "a.py", True),
    ],
)
def test_our_own_ignore_file_wins(tmp_path, git_rules, own_rules, name, expected):
    written(tmp_path, {".gitignore": git_rules, ".intarsiaignore": own_rules})
    assert is_ignored(tmp_path, name) == expected


def test_our_own_ignore_file_in_a_deeper_folder_beats_one_above(tmp_path: Path):
    written(tmp_path, {".intarsiaignore": "*.py\n", "sub/.intarsiaignore": "!a.py\n"})
    assert not is_ignored(tmp_path, "sub/a.py")
    assert is_ignored(tmp_path, "sub/b.py")


@pytest.mark.parametrize("data", [b"\xff\xfe\x00bad\x00", b"***\n/\n!\n[z-a]\na.py\n", b"\0"])
def test_a_broken_ignore_file_never_fails(tmp_path: Path, data: bytes):
    (tmp_path / ".gitignore").write_bytes(data)
    assert is_ignored(tmp_path, "a.py") == (b"\na.py\n" in data)


def test_an_ignore_file_that_is_a_pipe_or_a_link_is_not_read(tmp_path: Path):
    (tmp_path / "elsewhere").write_text("a.py\n")
    (tmp_path / ".gitignore").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / ".intarsiaignore")
    assert not is_ignored(tmp_path, "a.py")


HOSTILE_RULES = (
    "*a*a*a*a*a*a*a*a*a*a*a*a*b",
    "**a**a**a**a**a**a**a**b",
    "?******************************b",
    "**/a/**/a/**/a/**/a/**/a/**/a/**/b",
    r"\\*a\\*a" + "a*" * 12 + "b",
)


@pytest.mark.parametrize("rule", HOSTILE_RULES)
def test_a_rule_of_many_wildcards_is_decided_at_once(tmp_path: Path, rule: str) -> None:
    """It would take longer than the time limit of tests, and reads no file that it names."""
    (tmp_path / ".gitignore").write_text(f"{rule}\n")
    assert not is_ignored(tmp_path, "other.py")
    for name in ("a" * 200, "a/" * 30 + "a"):
        rules_of(tmp_path).why_not((tmp_path / name).as_posix())


def test_a_rule_of_many_wildcards_leaves_out_all_that_it_names(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("a*b*c*d*e.py\n!a*b*c*d*e.py\n# * * * *\n")
    assert is_ignored(tmp_path, "a1b2c3d4e.py")
    assert not is_ignored(tmp_path, "b.py")
