"""Only a digest is kept, changes count at once, a file that others may write is refused."""

import os
from pathlib import Path

import pytest

from intarsia.engine.team.keys import KeyFileError, TeamKeys, line_of, new_key


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys"


def write(path: Path, *lines: str) -> None:
    """Write another file in its place, as an editor does: no two versions look the same."""
    draft = path.with_name("draft")
    draft.write_text("".join(lines))
    draft.chmod(0o600)
    draft.replace(path)


def test_a_key_tells_its_user(path: Path) -> None:
    ann, ben = new_key(), new_key()
    write(path, "# the team\n\n", line_of("ann", ann), line_of("ben@example.com", ben))
    keys = TeamKeys(path)
    assert (keys.user_of(ann), keys.user_of(ben)) == ("ann", "ben@example.com")
    assert keys.user_of(new_key()) is None
    assert keys.user_of("") is None
    assert keys.user_of("a" * 100_000) is None
    assert keys.user_of("\ud800") is None


def test_no_key_is_in_the_file(path: Path) -> None:
    key = new_key()
    write(path, line_of("ann", key))
    assert key not in path.read_text()
    assert len(key) > 40


def test_two_keys_differ() -> None:
    assert len({new_key() for _ in range(100)}) == 100


def test_a_key_that_is_taken_out_is_refused_at_once(path: Path) -> None:
    ann, ben = new_key(), new_key()
    write(path, line_of("ann", ann))
    keys = TeamKeys(path)
    assert keys.user_of(ann) == "ann"
    write(path, line_of("ben", ben))
    assert keys.user_of(ann) is None
    assert keys.user_of(ben) == "ben"


def test_while_the_file_is_gone_or_bad_no_key_is_accepted(path: Path) -> None:
    ann = new_key()
    write(path, line_of("ann", ann))
    keys = TeamKeys(path)
    path.unlink()
    assert keys.user_of(ann) is None
    write(path, "ann sha256:abc\n")
    assert keys.user_of(ann) is None
    write(path, line_of("ann", ann))
    assert keys.user_of(ann) == "ann"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["ann\n"], "line 1: write NAME sha256:DIGEST"),
        ([line_of("ann", "a"), "ben md5:00\n"], "line 2: write NAME"),
        ([line_of("ann", "a"), line_of("ann", "b")], "line 2: ann has a key already"),
    ],
)
def test_a_bad_line_is_named(path: Path, lines: list[str], message: str) -> None:
    write(path, *lines)
    with pytest.raises(KeyFileError, match=message):
        TeamKeys(path)


def test_no_file_and_no_text(path: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="cannot be read"):
        TeamKeys(path)
    with pytest.raises(KeyFileError, match="is not a file"):
        TeamKeys(tmp_path)
    path.write_bytes(b"\xff\xfe\x00")
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="is not UTF-8"):
        TeamKeys(path)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
@pytest.mark.parametrize("mode", [0o602, 0o666])
def test_a_file_that_others_may_write_is_refused(path: Path, mode: int) -> None:
    write(path, line_of("ann", "a"))
    path.chmod(mode)
    with pytest.raises(KeyFileError, match="chmod go-w"):
        TeamKeys(path)


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "-x", "x" * 65, "a:b", "é"])
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(KeyFileError, match="cannot name a user"):
        line_of(name, "key")
