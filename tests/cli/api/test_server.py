"""Where the API listens, and its file of keys."""

import gc
import hashlib
import os
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from api_desk import running_api
from click.testing import CliRunner, Result

from intarsia.cli.api.command import command
from intarsia.cli.api.http.access import MAX_FILE_BYTES, open_key_file
from intarsia.cli.api.server import listen
from intarsia.cli.errors import CliError, ExitCode
from intarsia.engine.ipc.address import Address
from intarsia.engine.team.keys import KeyFileError

KEY = "0123456789abcdef"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    return written_keys(tmp_path / "keys", KEY)


def refusal(*arguments: str) -> str:
    result: Result = CliRunner().invoke(command, [*arguments, "--port", "0"])
    assert isinstance(result.exception, CliError)
    assert result.exception.code == ExitCode.BAD_INPUT
    return str(result.exception)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1"])
def test_plain_http_beyond_loopback_is_refused(host, key_file, certificate):
    cert, key = map(str, certificate)
    with_key, with_tls = ("--key-file", str(key_file)), ("--tls-cert", cert, "--tls-key", key)
    for options in ((), with_key, with_tls):
        message = refusal("--host", host, *options)
        assert "reachable from other machines" in message
        assert "--key-file, --tls-cert and --tls-key" in message


async def test_no_part_of_an_answer_is_held_back(address: Address):
    async with running_api(address) as desk:
        reader, writer = await desk.connect()
        writer.write(desk.request("GET", "/health", b"", Connection=""))
        await reader.readuntil(b"}")
        accepted = [
            thing
            for thing in gc.get_objects()
            if issubclass(type(thing), socket.socket)  # some objects lie about their class
            and thing.fileno() >= 0
            and thing is not desk.listening.socket
            and thing.getsockname() == desk.listening.socket.getsockname()
        ]
        assert accepted
        for connection in accepted:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_loopback_needs_neither(host: str):
    where = dict(host=host, port=0, key_file=None, tls_cert=None, tls_key=None)
    listening = listen(**where)
    with listening.socket:
        assert listening.is_loopback
        assert listening.socket.getsockname()[0].startswith("127.")
        assert listening.url == f"http://{listening.socket.getsockname()[0]}:{listening.port}"


def test_wrong_options_are_named(key_file: Path, certificate: tuple[Path, Path], tmp_path: Path):
    cert, key = map(str, certificate)
    assert "not an IP address" in refusal("--host", "example.org")
    assert "give --tls-cert and --tls-key" in refusal("--tls-cert", cert)
    assert "give --tls-cert and --tls-key" in refusal("--tls-key", key)
    for pair in ((key, cert), (cert, str(key_file)), (cert, str(tmp_path / "none"))):
        assert "no certificate" in refusal("--tls-cert", pair[0], "--tls-key", pair[1])
    key_file.write_text("")
    assert "has no key" in refusal("--key-file", str(key_file))


def test_an_encrypted_key_is_refused_without_a_question(certificate, tmp_path):
    cert, key = certificate
    encrypted = tmp_path / "encrypted.pem"
    encrypt = ["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:x", "-out", encrypted]
    subprocess.run(encrypt, check=True, capture_output=True)
    assert "no certificate" in refusal("--tls-cert", str(cert), "--tls-key", str(encrypted))


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(command, ["--port", str(port)])
    assert isinstance(result.exception, CliError)
    assert f"port {port} is unavailable" in str(result.exception)
    assert result.exception.code == ExitCode.BAD_INPUT


async def test_beyond_loopback_a_key_and_tls_are_served(address, key_file, certificate):
    cert, key = certificate
    where = dict(host="0.0.0.0", port=0, key_file=key_file, tls_cert=cert, tls_key=key)
    trusted = ssl.create_default_context(cafile=cert)
    async with running_api(address, where=where, trusted=trusted) as desk:
        assert desk.listening.url.startswith("https://0.0.0.0:")
        right = {"Authorization": f"Bearer {KEY}", "Host": "intarsia.example"}
        reply = await desk.post("/v1/completions", {"prompt": "return "}, **right)
        assert (reply.status, reply.json["choices"][0]["text"]) == (200, "a + b")
        assert (await desk.complete(prompt="return ")).status == 401
        page = right | {"Origin": "https://intarsia.example"}
        assert (await desk.post("/infill", {}, **page)).status == 403
        desk.trusted = None  # plain HTTP to the same port
        with pytest.raises((OSError, IndexError)):
            await desk.complete(prompt="return ")
        desk.trusted = ssl.create_default_context()  # does not know the certificate
        with pytest.raises(ssl.SSLCertVerificationError):
            await desk.complete(prompt="return ")


def written_keys(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_plain_and_hashed_keys_are_accepted(tmp_path: Path):
    hashed = hashlib.sha256(b"another key of mine").hexdigest()
    path = written_keys(tmp_path / "keys", f"# laptop\n{KEY}\n\n  sha256:{hashed.upper()}  \n")
    keys = open_key_file(path)
    assert keys.name_of(KEY)
    assert keys.name_of("another key of mine")
    for wrong in ("", "# laptop", hashed, f"sha256:{hashed}", KEY[:-1], KEY + "0", "\udcff"):
        assert not keys.name_of(wrong)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no key"),
        ("# nothing\n", "has no key"),
        ("short\n", "line 1 is not a key"),
        (f"{KEY}\nwith some blanks in it\n", "line 2 is not a key"),
        ("sha256:12\n", "line 1 is not a key"),
        ("x" * (MAX_FILE_BYTES + 1), "has more than"),
    ],
)
def test_a_file_of_other_text_is_refused(tmp_path: Path, text: str, says: str):
    with pytest.raises(KeyFileError, match=says) as raised:
        open_key_file(written_keys(tmp_path / "keys", text))
    assert KEY not in str(raised.value)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int):
    with pytest.raises(KeyFileError, match="chmod 600"):
        open_key_file(written_keys(tmp_path / "keys", KEY, mode))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_what_is_no_file_is_refused(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path, says in (
        (tmp_path, "is not a file"),
        (tmp_path / "pipe", "is not a file"),
        (tmp_path / "none", "cannot be read"),
    ):
        with pytest.raises(KeyFileError, match=says):
            open_key_file(path)


def test_a_link_to_a_file_of_mine_is_followed(tmp_path: Path):
    link = tmp_path / "link"
    link.symlink_to(written_keys(tmp_path / "keys", KEY))
    assert open_key_file(link).name_of(KEY)
