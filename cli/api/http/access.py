"""Who may ask: programs on this machine, or holders of a key. Web pages never.

A page that a browser shows can send requests to loopback. It is told apart by its ``Origin`` or
``Sec-Fetch-Site`` header, or by a ``Host`` that is not ours (DNS rebinding).
"""

import hashlib
import ipaddress
import re
from collections.abc import Mapping
from pathlib import Path

import click
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from intarsia.cli.api.http.read import Refusal, error_response
from intarsia.engine.team.keys import KeyFile, KeyFileError

MIN_KEY_CHARS = 16
MAX_FILE_BYTES = 64 * 1024
_DIGEST = re.compile(r"sha256:([0-9a-fA-F]{64})")
_PLAIN = re.compile(r"[\x21-\x7e]+")


def open_key_file(path: Path) -> KeyFile:
    """Return the keys of a file that only its owner may read. Raises KeyFileError."""
    return KeyFile(path, _digests, is_private=True, max_bytes=MAX_FILE_BYTES)


def _digests(text: str, path: Path) -> Mapping[str, bytes]:
    digests = {}
    for number, line in enumerate(text.splitlines(), start=1):
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        hashed = _DIGEST.fullmatch(word)
        if hashed is not None:
            digests[f"line {number}"] = bytes.fromhex(hashed[1])
        elif _PLAIN.fullmatch(word) and len(word) >= MIN_KEY_CHARS:
            digests[f"line {number}"] = hashlib.sha256(word.encode()).digest()
        else:
            raise KeyFileError(
                f"{path}, line {number} is not a key: give {MIN_KEY_CHARS} or more characters "
                "without blanks, as `openssl rand -hex 32` prints them"
            )
    if not digests:
        raise KeyFileError(f"{path} has no key: add the output of `openssl rand -hex 32`")
    return digests


MAX_OPEN_REQUESTS = 64
RETRY_AFTER_S = 1
_HOST = re.compile(r"([^:\[\]]+|\[[0-9a-fA-F:.]+\])(?::[0-9]+)?")
_OWN_SITES = ("none", "same-origin")
_CLOSE = {"Connection": "close"}


class Guard:
    """Passes a request on to the app, or answers it with a refusal.

    With ``keys`` each request must present one. Without ``is_loopback`` any host name is accepted:
    a page does not know the key.
    """

    def __init__(self, app: ASGIApp, *, keys: KeyFile | None, is_loopback: bool) -> None:
        if keys is None and not is_loopback:
            raise ValueError("without keys, only this machine may ask")
        self._app = app
        self._keys = keys
        self._is_loopback = is_loopback
        self._num_open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        self._num_open += 1
        try:
            self._check(Headers(scope=scope))
        except Refusal as refusal:
            await error_response(refusal, scope["path"])(scope, receive, send)
        else:
            await self._app(scope, receive, send)
        finally:
            self._num_open -= 1

    def _check(self, headers: Headers) -> None:
        if self._is_loopback and not _is_own(headers.get("host", "")):
            raise Refusal(403, "this API is for programs on this machine: use 127.0.0.1", _CLOSE)
        if "origin" in headers:
            raise Refusal(403, "this API is not for web pages: omit the Origin header", _CLOSE)
        if headers.get("sec-fetch-site", "none") not in _OWN_SITES:
            raise Refusal(403, "this API is not for web pages: ask from a program", _CLOSE)
        if self._keys is not None:
            self._check_key(self._keys, headers.get("authorization", ""))
        if self._num_open > MAX_OPEN_REQUESTS:
            raise Refusal(
                429,
                f"{MAX_OPEN_REQUESTS} requests are open: try again in {RETRY_AFTER_S} s",
                {"Retry-After": str(RETRY_AFTER_S)},
            )

    def _check_key(self, keys: KeyFile, authorization: str) -> None:
        scheme, _, key = authorization.partition(" ")
        try:
            if scheme.lower() == "bearer" and keys.name_of(key.strip()):
                return
        except KeyFileError as error:
            click.echo(f"intarsia api: {error}", err=True)
            raise Refusal(503, "the server's key file is unusable: tell its operator") from error
        raise Refusal(
            401,
            "no valid key: send a header Authorization: Bearer KEY",
            {"WWW-Authenticate": "Bearer"} | _CLOSE,
        )


def _is_own(host: str) -> bool:
    """Whether a Host header names this machine. An address cannot mean another one later."""
    found = _HOST.fullmatch(host)
    if found is None:
        return False
    name = found[1].lower()
    try:
        return name == "localhost" or ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False
