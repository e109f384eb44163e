"""Which files of an opened folder may be read."""

from pathlib import Path

import pytest

from intarsia.workspace.files.file_rules import MAX_DEPTH, FileRules
from intarsia.workspace.files.paths import RootSettings


def rules_of(root: Path, **settings: object) -> FileRules:
    return FileRules(
        RootSettings(path=str(root), **settings),  # type: ignore[arg-type]
        lambda name: name.endswith((".py", ".json", ".lock.yaml", ".js")),
    )


def reason(root: Path, name: str, **settings: object) -> str | None:
    path = root / name
    if not path.parent.is_symlink():
        path.parent.mkdir(parents=True, exist_ok=True)
    return rules_of(root, **settings).why_not(path.as_posix())


def test_a_source_file_may_be_read(tmp_path: Path):
    assert reason(tmp_path, "src/app/main.py") is None


def test_a_file_of_no_known_language_may_not(tmp_path: Path):
    assert reason(tmp_path, "photo.png") == "not in a known language"


@pytest.mark.parametrize(
    "name", ["auth.json", "AUTH.JSON", "secrets/a.py", "src/Secrets/a.py", ".ssh/a.py", ".env.py"]
)
def test_a_secret_may_not_be_read_whatever_its_case(tmp_path: Path, name: str):
    assert str(reason(tmp_path, name)).startswith("excluded by the pattern")


def test_the_user_may_allow_secrets_and_exclude_more(tmp_path: Path):
    assert reason(tmp_path, "secrets/a.py", exclude_secrets=False) is None
    assert reason(tmp_path, "internal/a.py", exclude=("internal/",)) is not None
    excluded = (str(tmp_path / "inner"), str(tmp_path / "one.py"))
    assert reason(tmp_path, "inner/a.py", excluded_paths=excluded) == "excluded by the settings"
    assert reason(tmp_path, "one.py", excluded_paths=excluded) == "excluded by the settings"
    assert reason(tmp_path, "inner2/a.py", excluded_paths=excluded) is None


@pytest.mark.parametrize(
    "folder", ["node_modules", "sub/.venv", "build", "Build", "dist", "__pycache__", "a/target"]
)
def test_folders_of_tools_and_builds_are_left_out(tmp_path: Path, folder: str):
    assert reason(tmp_path, f"{folder}/a.py") == "a folder of tools or builds"


def test_an_own_rule_asks_for_a_folder_that_is_left_out(tmp_path: Path):
    (tmp_path / ".intarsiaignore").write_text("!build/\n!.git/\n")
    assert reason(tmp_path, "build/a.py") is None
    assert reason(tmp_path, ".git/hooks/a.py") == "of a version control system"


@pytest.mark.parametrize("marker", ["pyvenv.cfg", "CACHEDIR.TAG"])
def test_a_folder_that_a_tool_has_marked_is_left_out(tmp_path: Path, marker: str):
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / marker).touch()
    assert reason(tmp_path, "env/lib/a.py") == "in a tool's folder"
    assert reason(tmp_path, "environment/a.py") is None


@pytest.mark.parametrize("name", ["package-lock.json", "a/app.min.js", "x_pb2.py"])
def test_generated_files_are_left_out_by_their_names(tmp_path: Path, name: str):
    assert reason(tmp_path, name) == "generated"


@pytest.mark.parametrize("path", ["/etc/a.py", "../a.py", "sub/../../a.py", "a\0.py", "\udcff.py"])
def test_nothing_outside_of_the_folder_may_be_read(tmp_path: Path, path: str):
    at = path if path.startswith("/") else f"{tmp_path.as_posix()}/{path}"
    assert rules_of(tmp_path).why_not(at) == "outside of the opened folder"


def test_a_folder_with_the_same_beginning_is_outside(tmp_path: Path):
    rules = rules_of(tmp_path / "app")
    assert rules.why_not((tmp_path / "app2" / "a.py").as_posix()) == "outside of the opened folder"


def test_a_link_is_not_followed_wherever_it_leads(tmp_path: Path):
    (tmp_path / "auth.json").write_text("{}")
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_text("")
    (tmp_path / "plain.py").symlink_to(tmp_path / "auth.json")
    (tmp_path / "out.py").symlink_to("/etc/passwd")
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    for name in ("plain.py", "out.py", "linked/a.py"):
        assert rules_of(tmp_path).why_not((tmp_path / name).as_posix()) == "a link", name
    assert rules_of(tmp_path).why_not((tmp_path / "real" / "a.py").as_posix()) is None


def test_an_opened_folder_may_be_a_link_unless_it_leads_to_secrets(tmp_path: Path):
    for name in ("project", "secrets"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("")
        (tmp_path / f"to_{name}").symlink_to(tmp_path / name)
    to_project, to_secrets = tmp_path / "to_project", tmp_path / "to_secrets"
    assert rules_of(to_project).why_not((to_project / "a.py").as_posix()) is None
    assert rules_of(to_secrets).why_not((to_secrets / "a.py").as_posix()) is not None


def test_a_file_in_too_deep_a_folder_is_left_out(tmp_path: Path):
    assert reason(tmp_path, "d/" * MAX_DEPTH + "a.py") is None
    assert reason(tmp_path, "d/" * (MAX_DEPTH + 1) + "a.py") == "too deep"
