"""Keys in a file: plain or hashed, and only if no other user may read it."""

import hashlib
import os
import sys
from pathlib import Path

import pytest

from intarsia.cli.api.http.key_file import MAX_FILE_BYTES, KeyFile, KeyFileError

KEY = "0123456789abcdef"


def key_file(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_plain_and_hashed_keys_are_accepted(tmp_path: Path):
    hashed = hashlib.sha256(b"another key of mine").hexdigest()
    path = key_file(tmp_path / "keys", f"# laptop\n{KEY}\n\n  sha256:{hashed.upper()}  \n")
    keys = KeyFile(path)
    assert keys.accepts(KEY)
    assert keys.accepts("another key of mine")
    for wrong in ("", "# laptop", hashed, f"sha256:{hashed}", KEY[:-1], KEY + "0", "\udcff"):
        assert not keys.accepts(wrong)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no key"),
        ("# nothing\n", "has no key"),
        ("short\n", "line 1 is no key"),
        (f"{KEY}\nwith some blanks in it\n", "line 2 is no key"),
        ("sha256:12\n", "line 1 is no key"),
        ("x" * (MAX_FILE_BYTES + 1), "has more than"),
    ],
)
def test_a_file_of_other_text_is_refused(tmp_path: Path, text: str, says: str):
    with pytest.raises(KeyFileError, match=says) as raised:
        KeyFile(key_file(tmp_path / "keys", text))
    assert KEY not in str(raised.value)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int):
    with pytest.raises(KeyFileError, match="chmod 600"):
        KeyFile(key_file(tmp_path / "keys", KEY, mode))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_what_is_no_file_is_refused(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path, says in (
        (tmp_path, "is not a file"),
        (tmp_path / "pipe", "is not a file"),
        (tmp_path / "none", "cannot be read"),
    ):
        with pytest.raises(KeyFileError, match=says):
            KeyFile(path)


def test_a_link_to_a_file_of_mine_is_followed(tmp_path: Path):
    link = tmp_path / "link"
    link.symlink_to(key_file(tmp_path / "keys", KEY))
    assert KeyFile(link).accepts(KEY)
