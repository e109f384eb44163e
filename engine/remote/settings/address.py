"""Where a server is: a checked URL. Plain http is for this machine only."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

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
        """The host and port, as users are told where their code goes."""
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
    """Tell whether a host's name or number is this machine's loopback."""
    if host == "localhost":
        return True  # its addresses are checked once more when it is connected to
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
