"""Only a digest is kept, changes count at once, a file that others may write is refused."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from intarsia.engine.team.keys import KeyFileError, TeamKeys, add_user, line_of, new_key


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


ANN = line_of("ann", "a").rstrip("\n").encode()


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"\n",
        ANN,
        ANN + b"\n",
        ANN + b"\n\n",
        ANN + b"  ",
        ANN + b"\r\n",
        b"# team\r\n\r\n" + ANN,
        ANN + b"\r",
        ANN + b"\n# ben left",
        ANN + "\u2028".encode(),
    ],
)
def test_whatever_is_at_the_end_a_new_key_and_all_others_are_accepted(path, before):
    path.write_bytes(before)
    path.chmod(0o600)
    others = TeamKeys(path)
    carol, dave = add_user(path, "carol"), add_user(path, "dave")
    assert path.read_bytes().startswith(before)
    for keys in (TeamKeys(path), others):
        assert (keys.user_of(carol), keys.user_of(dave)) == ("carol", "dave")
        assert keys.user_of("a") == ("ann" if ANN in before else None)


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (ANN + b"\nben\n", "line 2"),
        (b"\xef\xbb\xbf" + ANN, "line 1"),
        (ANN.decode().encode("utf-16"), "not UTF-8"),
        (line_of("carol", "c").encode(), "has a key already"),
        (b"#" * 4_000_000, "more than"),
    ],
)
def test_a_file_that_cannot_be_added_to_stays_as_it_is(path, before, message):
    path.write_bytes(before)
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match=message):
        add_user(path, "carol")
    assert path.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="file modes and links")
def test_the_file_keeps_its_mode_and_its_place(path: Path, tmp_path: Path) -> None:
    write(path, ANN.decode())
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    before = path.stat()
    assert TeamKeys(path).user_of(add_user(link, "carol")) == "carol"
    after = path.stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_read_only_file_and_one_of_others_are_not_written(path: Path) -> None:
    write(path, ANN.decode())
    path.chmod(0o400)
    with pytest.raises(PermissionError):
        add_user(path, "carol")
    path.chmod(0o666)
    with pytest.raises(KeyFileError, match="chmod go-w"):
        add_user(path, "carol")
    assert path.read_bytes() == ANN


@pytest.mark.skipif(os.name != "posix", reason="limits of files")
def test_where_the_disk_is_full_no_half_line_stays(path: Path) -> None:
    import resource

    write(path, ANN.decode())
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(ANN) + 10, former[1]))
        with pytest.raises(OSError, match="No space"):
            add_user(path, "carol")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
    assert path.read_bytes() == ANN
    assert TeamKeys(path).user_of("a") == "ann"


def test_of_keys_that_are_made_at_once_none_is_lost(path: Path) -> None:
    path.write_bytes(ANN)
    path.chmod(0o600)
    names = [f"user{n}" for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(partial(add_user, path), names))
    keys = TeamKeys(path)
    assert [keys.user_of(key) for key in made] == names
    assert keys.user_of("a") == "ann"
