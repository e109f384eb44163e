"""The user's settings of remotes: strict, plain errors, and no file that others may write."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remote_settings import RemoteSettings

from intarsia.engine.errors import ModelError
from intarsia.engine.remote.http import remotes
from intarsia.engine.remote.http.remotes import (
    add_remote,
    find_remote,
    parse_address,
    parse_remotes,
    read_private_file,
    read_remotes,
    remotes_path,
    remove_remote,
)

URL = "https://fill.example.com"
PATH = Path("remotes.toml")


def test_all_settings_are_read(settings: RemoteSettings, tmp_path: Path) -> None:
    remote = settings.write(
        f"{URL}:8443/v1x/",
        model="tuned",
        tokenizer=tmp_path / "t",
        key_file=tmp_path / "key",
        ca=tmp_path / "ca.pem",
        timeout_s=5,
        fallback=True,
    )
    address = remote.address
    assert (address.host, address.port, address.is_https) == ("fill.example.com", 8443, True)
    assert address.base_path == "/v1x"
    assert (remote.model, remote.timeout_s, remote.fallback) == ("tuned", 5.0, True)
    assert remote.key_file == tmp_path / "key"


def test_without_a_file_there_is_no_remote(settings: RemoteSettings) -> None:
    assert remotes_path() == settings.path
    assert read_remotes() == {}
    with pytest.raises(ModelError, match="no remote 'there'"):
        find_remote("there")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a", "is not TOML"),
        ("a = 1", "must be in a table"),
        ("[a]", "url is missing"),
        ("[a]\nurl = 1", "url must be a text"),
        ("[a]\nurl = 'https://x'\nhost = 'y'", "unknown setting 'host'"),
        ("[a]\nurl = 'https://x'\nfallback = 1", "fallback must be true or false"),
        ("[a]\nurl = 'https://x'\ntimeout_s = true", "timeout_s must be a number"),
        ("[a]\nurl = 'https://x'\ntimeout_s = 0", "timeout_s must be from 1 to 600"),
        ("[a]\nurl = 'https://x'\ntimeout_s = nan", "timeout_s must be from 1 to 600"),
        ("[a]\nurl = 'https://x'\ntokenizer = 'here'", "tokenizer must be a full path"),
        ("['a b']\nurl = 'https://x'", "a name has letters"),
        ("[a]\nurl = 'http://localhost'\nca = '/x'", "ca is for an https:// url"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(ModelError, match=problem) as caught:
        parse_remotes(text, PATH)
    assert str(caught.value).startswith("remotes.toml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://192.168.0.2:8080", "is for this machine only"),
        ("http://example.com", "is for this machine only"),
        ("http://127.0.0.1.example.com", "is for this machine only"),
        ("ftp://127.0.0.1", "must begin with https://"),
        ("127.0.0.1:8080", "must begin with https://"),
        ("https://", "names no host"),
        ("https://user:key@example.com", "put the key into a file"),
        ("https://example.com/?key=1", "without \\? or #"),
        ("https://exa mple.com", "has a blank"),
        ("https://exämple.com", "outside ASCII"),
        ("https://example.com:99999", "Port out of range"),
    ],
)
def test_a_url_that_is_refused(url: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_address(url)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1", "[::1]"])
def test_plain_http_is_for_loopback(host: str) -> None:
    assert parse_address(f"http://{host}:8080").port == 8080


@given(st.text(max_size=200))
def test_no_text_is_a_crash(text: str) -> None:
    try:
        parse_remotes(text, PATH)
    except ModelError as error:
        assert "\n" not in str(error)


posix = pytest.mark.skipif(sys.platform == "win32", reason="modes are those of Unix")


@posix
@pytest.mark.parametrize("mode", [0o602, 0o666])
def test_settings_that_others_may_write_are_refused(settings: RemoteSettings, mode: int) -> None:
    settings.write(URL)
    settings.path.chmod(mode)
    with pytest.raises(ModelError, match="written by other users: run chmod go-w"):
        read_remotes()
    settings.path.chmod(0o600)
    settings.path.parent.chmod(0o777)
    with pytest.raises(ModelError, match="config can be written by other users"):
        read_remotes()


@posix
@pytest.mark.parametrize("clock_ns", [0, 60_000_000_000])
def test_a_file_that_is_known_counts_as_it_is_now(settings, monkeypatch, clock_ns):
    """What it said is kept while it does not change: in a state that can be told apart."""
    reads: list[Path] = []

    def read(path: Path, *, is_secret: bool) -> str:
        reads.append(path)
        return read_private_file(path, is_secret=is_secret)

    monkeypatch.setattr(remotes, "_CLOCK_NS", clock_ns)
    monkeypatch.setattr(remotes, "read_private_file", read)
    settings.write(URL)
    reads.clear()
    assert [find_remote("there").url for _ in range(3)] == 3 * [URL]
    assert len(reads) == (3 if clock_ns else 0)
    settings.path.write_text(settings.path.read_text().replace("fill", "filling"))
    assert find_remote("there").url == URL.replace("fill", "filling")
    settings.path.chmod(0o666)
    with pytest.raises(ModelError, match="written by other users"):
        find_remote("there")
    settings.path.unlink()
    assert read_remotes() == {}


@posix
def test_a_pipe_is_no_settings_file(settings: RemoteSettings) -> None:
    os.mkfifo(settings.path, 0o600)
    with pytest.raises(ModelError, match="is not a file"):
        read_remotes()


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_key_that_others_may_read_is_refused(settings, tmp_path, mode):
    key = tmp_path / "key"
    remote = settings.write(URL, key_file=key)
    with pytest.raises(ModelError, match="is missing"):
        remote.key()
    key.write_text("sk-1\n")
    key.chmod(mode)
    with pytest.raises(ModelError, match="chmod 600"):
        remote.key()
    key.chmod(0o600)
    assert remote.key() == "sk-1"


@pytest.mark.parametrize("text", ["", "\n", "one two", "one\ntwo", "schlüssel", "x" * 9_000])
def test_what_is_no_key(settings: RemoteSettings, tmp_path: Path, text: str) -> None:
    key = tmp_path / "key"
    key.write_text(text)
    key.chmod(0o600)
    with pytest.raises(ModelError, match="must hold one key"):
        settings.write(URL, key_file=key).key()


def test_adding_and_removing_keep_the_other_lines(settings: RemoteSettings) -> None:
    path = settings.path
    add_remote("one", {"url": URL}, path)
    path.write_text("# mine\n" + path.read_text() + "# for work\n")
    add_remote("two", {"url": "http://localhost:1", "fallback": True, "timeout_s": 2.5}, path)
    assert list(read_remotes()) == ["one", "two"]
    with pytest.raises(ModelError, match="has a remote 'one'"):
        add_remote("one", {"url": URL}, path)
    remove_remote("one", path)
    assert list(read_remotes()) == ["two"]
    assert path.read_text().startswith("# mine\n")
    remove_remote("two", path)
    assert read_remotes() == {}
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_mistake_is_not_written(settings: RemoteSettings) -> None:
    with pytest.raises(ModelError, match="for this machine only"):
        add_remote("one", {"url": "http://example.com"}, settings.path)
    assert not settings.path.exists()
