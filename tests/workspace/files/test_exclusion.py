"""Which files never reach the model."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.workspace.files.exclusion import SECRETS, _matches, excluding_pattern


@pytest.mark.parametrize(
    "path",
    [
        "/home/me/project/.env",
        "/home/me/project/.env.local",
        "/home/me/project/prod.env",
        "/home/me/.ssh/config",
        "/home/me/.ssh/id_rsa",
        "/home/me/Keys/readme.md",
        "/home/me/SERVER.PEM",
        "/secrets/token.txt",
    ],
)
def test_secrets_are_excluded_by_default(path: str) -> None:
    assert excluding_pattern(PurePosixPath(path), SECRETS) is not None


@pytest.mark.parametrize(
    "path",
    [
        "/home/me/project/environment.py",
        "/home/me/project/monkeys/a.py",
        "/home/me/project/keys.py",
        "/private/var/folders/x/a.py",
    ],
)
def test_ordinary_sources_are_not(path: str) -> None:
    assert excluding_pattern(PurePosixPath(path), SECRETS) is None


@pytest.mark.parametrize(
    ("pattern", "is_excluded"),
    [
        ("*.py", True),
        ("A.PY", True),
        ("project/", True),
        ("src/a.py", True),
        ("src/*.py", True),
        ("/home/me/*", True),
        ("me/project/", True),
        ("rc/a.py", False),
        ("a.py/", False),
        ("*.js", False),
    ],
)
def test_patterns_name_files_paths_and_directories(pattern: str, is_excluded: bool) -> None:
    path = PurePosixPath("/home/me/project/src/a.py")
    assert (excluding_pattern(path, [pattern]) is not None) == is_excluded


def test_windows_paths_are_read_with_slashes() -> None:
    path = PureWindowsPath(r"C:\work\Keys\a.py")
    assert excluding_pattern(path, SECRETS) == "keys/"


@given(
    parts=st.lists(st.sampled_from(["a", "b", "A", ".env", "x.key", "keys"]), max_size=4),
    patterns=st.lists(
        st.sampled_from(["a", "a/", "a/b", "*.key", "keys/", "/a/*", "A/*/b", "[", "?", ""])
    ),
    is_absolute=st.booleans(),
)
def test_the_expression_for_all_patterns_misses_no_match(
    parts: list[str], patterns: list[str], is_absolute: bool
):
    path = PurePosixPath("/" if is_absolute else "", *parts)
    one_by_one = [it for it in patterns if _matches(path.as_posix().casefold(), it.casefold())]
    assert excluding_pattern(path, patterns) == (one_by_one[0] if one_by_one else None)
