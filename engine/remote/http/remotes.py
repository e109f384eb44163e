"""The user's servers: ``remotes.toml`` in the user's config folder. No workspace can name one.

Where a server is, is a checked URL. Plain http is for this machine only.
"""

import ipaddress
import json
import os
import re
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import platformdirs

from intarsia.engine.cache.own_file import read_own_file
from intarsia.engine.errors import ModelError
from intarsia.engine.ipc.ownership import write_own_file
from intarsia.engine.model_store.catalog import shown

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A server's host and port, and the path before every request's own path."""

    host: str
    port: int
    is_https: bool
    base_path: str

    @property
    def shown(self) -> str:
        """The host and port, by which users are told where their code goes."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(url: str) -> Address:
    """Return the address of a URL. Raises ValueError, saying what is wrong with it."""
    if url != url.strip() or any(character < "!" or character > "~" for character in url):
        raise ValueError("url has a blank, or a character outside ASCII")
    parts = urlsplit(url)
    if parts.scheme not in _DEFAULT_PORTS:
        raise ValueError("url must begin with https://, or with http:// on this machine")
    if parts.username is not None or parts.password is not None:
        raise ValueError("url has a name or password in it: put the key into a file, key_file")
    if parts.query or parts.fragment:
        raise ValueError("url must end with its path, without ? or #")
    if not parts.hostname:
        raise ValueError("url names no host")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError(
            f"http:// is for this machine only, and {parts.hostname} is another: use https://, "
            "or a tunnel such as ssh -L"
        )
    return Address(
        host=parts.hostname,
        port=_DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port,
        is_https=parts.scheme == "https",
        base_path=parts.path.rstrip("/"),
    )


def is_loopback(host: str) -> bool:
    """Return whether a host's name or number is this machine's loopback."""
    if host == "localhost":
        return True  # its addresses are checked once more when it is connected to
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_MAX_BYTES = 256 * 1024
REMOTE_PREFIX = "remote:"

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""The names that a remote may have."""

_MAX_KEY_CHARS = 8_192
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "url": str,
    "model": str,
    "tokenizer": str,
    "key_file": str,
    "ca": str,
    "timeout_s": (int, float),
    "fallback": bool,
    "priority": bool,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Remote:
    """One server of the user's.

    ``model`` is sent to a server that holds several. ``tokenizer`` is a folder with the model's
    tokenizer.json, or that file (None: the default model's). ``ca`` is a PEM file that replaces the
    system's certificate authorities. A server that sends nothing for ``timeout_s`` is given up.
    With ``fallback`` the local model answers where the server does not. With ``priority`` the
    server schedules by priority, and what is read ahead waits for fills.
    """

    name: str
    url: str
    address: Address
    model: str = ""
    tokenizer: Path | None = None
    key_file: Path | None = None
    ca: Path | None = None
    timeout_s: float = 30.0
    fallback: bool = False
    priority: bool = False

    @property
    def shown(self) -> str:
        """The remote in words for the user, with the host that code goes to."""
        return f"{REMOTE_PREFIX}{self.name} at {self.address.shown}"

    def key(self) -> str | None:
        """Return the key, None if the server needs none. Raises ModelError."""
        if self.key_file is None:
            return None
        try:
            key = read_private_file(self.key_file, is_secret=True).strip()
        except FileNotFoundError:
            raise ModelError(
                f"the key file of remote:{self.name} is missing: write the key to {self.key_file}"
            ) from None
        is_plain = all("!" <= character <= "~" for character in key)
        if not key or len(key) > _MAX_KEY_CHARS or not is_plain:
            raise ModelError(f"{self.key_file} must hold one key in ASCII on one line")
        return key


_FileState: TypeAlias = tuple[int, ...]
_known: dict[Path, tuple[_FileState, Mapping[str, Remote]]] = {}
"""The remotes of a file in this state: each fill reads it, and it hardly ever changes."""

_CLOCK_NS = 2_000_000_000
"""A file that changed within this time may have changed twice: times of files are coarse."""


def remotes_path() -> Path:
    """Return the path of the settings file; INTARSIA_CONFIG_DIR overrides its folder."""
    override = os.environ.get("INTARSIA_CONFIG_DIR")
    folder = (
        Path(override).expanduser()
        if override
        else platformdirs.user_config_path("intarsia", appauthor=False)
    )
    return folder / "remotes.toml"


def read_remotes(path: Path | None = None) -> dict[str, Remote]:
    """Return the user's remotes by name, none if there is no file. Raises ModelError."""
    path = path or remotes_path()
    state = _state_of(path)
    known = _known.get(path)
    if known is not None and known[0] == state:
        return dict(known[1])
    try:
        text = read_private_file(path, is_secret=False)
    except FileNotFoundError:
        return {}
    remotes = parse_remotes(text, path)
    if state is not None:
        _known[path] = state, remotes
    return dict(remotes)


def find_remote(name: str, path: Path | None = None) -> Remote:
    """Return the remote of this name. Raises ModelError."""
    path = path or remotes_path()
    remotes = read_remotes(path)
    if name not in remotes:
        known = ", ".join(remotes) or "none"
        raise ModelError(
            f"no remote {shown(name)!r} in {path} (there: {known}): "
            "add it with `intarsia remote add`"
        )
    return remotes[name]


def parse_remotes(text: str, path: Path) -> dict[str, Remote]:
    """Return the remotes of a file's text. Raises ModelError with the place and what to do."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelError(f"{path} is not TOML ({error}): correct it") from error
    return {name: _remote(name, table, path) for name, table in tables.items()}


def _state_of(path: Path) -> _FileState | None:
    """Return what changes with a file, its rights included; None if another change may not tell."""
    try:
        found = path.stat()
    except OSError:
        return None
    if time.time_ns() - found.st_ctime_ns < _CLOCK_NS:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _remote(name: str, table: object, path: Path) -> Remote:
    where = f"{path}, [{name}]"
    if not NAME.fullmatch(name):
        raise ModelError(f"{where}: a name has letters, digits, - and _, 64 at most: rename it")
    if not isinstance(table, dict):
        raise ModelError(f"{path}: {name} must be in a table: write [NAME] above it")
    _require_known(table, where)
    try:
        address = parse_address(table["url"])
    except ValueError as error:
        raise ModelError(f"{where}: {error}") from error
    timeout_s = float(table.get("timeout_s", 30.0))
    if not 1 <= timeout_s <= 600:
        raise ModelError(f"{where}: timeout_s must be from 1 to 600, got {timeout_s:g}")
    if table.get("ca") and not address.is_https:
        raise ModelError(f"{where}: ca is for an https:// url: remove it")
    return Remote(
        name=name,
        url=table["url"],
        address=address,
        model=table.get("model", ""),
        tokenizer=_path(table, "tokenizer", where),
        key_file=_path(table, "key_file", where),
        ca=_path(table, "ca", where),
        timeout_s=timeout_s,
        fallback=table.get("fallback", False),
        priority=table.get("priority", False),
    )


def _require_known(table: Mapping[str, Any], where: str) -> None:
    for key, value in table.items():
        if key not in _TYPES:
            raise ModelError(f"{where}: unknown setting {key!r}: use {', '.join(_TYPES)}")
        kinds = _TYPES[key]
        is_number_as_flag = isinstance(value, bool) and kinds is not bool
        if not isinstance(value, kinds) or is_number_as_flag:
            wanted = {str: "a text", bool: "true or false"}.get(kinds, "a number")  # type: ignore[arg-type]
            raise ModelError(f"{where}: {key} must be {wanted}")
    if "url" not in table:
        raise ModelError(f"{where}: url is missing: write where the server is")


def _path(table: Mapping[str, Any], key: str, where: str) -> Path | None:
    text = table.get(key, "")
    if not text:
        return None
    path = Path(text).expanduser()
    if not path.is_absolute():
        raise ModelError(f"{where}: {key} must be a full path, or begin with ~/")
    return path


def read_private_file(path: Path, *, is_secret: bool) -> str:
    """Return the text of a file of the user's alone. Raises FileNotFoundError, ModelError."""
    return read_own_file(path, is_private=is_secret, max_bytes=_MAX_BYTES)


def remote_name(model: str) -> str | None:
    """Return NAME of ``remote:NAME``, None for any other model."""
    return model.removeprefix(REMOTE_PREFIX) if model.startswith(REMOTE_PREFIX) else None


Value = str | bool | float


def remote_of(name: str, values: Mapping[str, Value], path: Path) -> Remote:
    """Return the remote that these settings make, checked as in the file. Raises ModelError."""
    return parse_remotes(_table(name, values), path)[name]


def add_remote(name: str, values: Mapping[str, Value], path: Path) -> None:
    """Write a remote at the end of the file, which is made if missing. Raises ModelError."""
    before = _text(path)
    if name in parse_remotes(before, path):
        raise ModelError(f"{path} has a remote {name!r}: remove it first, or choose another name")
    gap = "\n" if before else ""
    after = before + ("" if before.endswith("\n") or not before else "\n") + gap
    after += _table(name, values)
    parse_remotes(after, path)
    _write(path, after)


def remove_remote(name: str, path: Path) -> None:
    """Remove a remote's table from the file. Raises ModelError."""
    before = _text(path)
    remotes = parse_remotes(before, path)
    if name not in remotes:
        raise ModelError(f"no remote {name!r} in {path} (there: {', '.join(remotes) or 'none'})")
    after = _without_table(before, name)
    if parse_remotes(after, path) != {n: r for n, r in remotes.items() if n != name}:
        raise ModelError(f"[{name}] cannot be told apart in {path}: remove its lines yourself")
    _write(path, after)


def _table(name: str, values: Mapping[str, Value]) -> str:
    if not NAME.fullmatch(name):
        raise ModelError(f"{name!r}: a name has letters, digits, - and _, 64 at most: rename it")
    # A JSON text is a TOML text too, as long as it keeps to ASCII escapes.
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join([f"[{name}]", *lines]) + "\n"


def _without_table(text: str, name: str) -> str:
    kept, is_removed = [], False
    for line in text.splitlines(keepends=True):
        if header := re.match(r"\s*\[\s*([\w-]+)\s*\]\s*(?:#.*)?$", line):
            is_removed = header[1] == name
        if not is_removed:
            kept.append(line)
    return "".join(kept).rstrip("\n") + "\n" if kept else ""


def _text(path: Path) -> str:
    try:
        return read_private_file(path, is_secret=False)
    except FileNotFoundError:
        return ""


def _write(path: Path, text: str) -> None:
    """Replace the file at once, with mode 0600; a link keeps pointing to it."""
    target = path.resolve()
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_own_file(target, text.encode())
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(f"{path} cannot be written ({reason}): make its folder yours") from error
