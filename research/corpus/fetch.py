"""Fetch pages and archives by HTTPS, and check the digest of every archive.

Archives are kept in a folder under their digest, so an interrupted build can continue. Nothing
that is fetched is run or unpacked here.
"""

import hashlib
import http.client
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeAlias

from intarsia_research.corpus.package_list import ArchiveLink
from intarsia_research.errors import CorpusFault

ReadPage: TypeAlias = Callable[[str], bytes]
"""Returns the content of an address. Raises NotThere, or CorpusFault if no server answers."""

MAX_BYTES = 400_000_000
TIMEOUT_S = 60.0
_NUM_TRIES = 3
_PAUSE_S = 2.0
_HEADERS = {
    "User-Agent": "intarsia-corpus",
    "Accept": "application/vnd.pypi.simple.v1+json, */*;q=0.5",  # PyPI's index as JSON
}
_NO_FILE_NAME = re.compile(r"[^\w.+~-]")


class NotThere(Exception):
    """There is nothing usable at an address. The message is one line."""


def read_page(url: str) -> bytes:
    """Return the content of an https address; try a few times.

    Raises NotThere, or CorpusFault if no server answers.
    """
    if urllib.parse.urlsplit(url).scheme != "https":
        raise CorpusFault(f"{url} is not an https address: give one")
    request = urllib.request.Request(url, headers=_HEADERS)
    for num_tries in range(1, _NUM_TRIES + 1):
        try:
            with _opener().open(request, timeout=TIMEOUT_S) as answer:
                data: bytes = answer.read(MAX_BYTES + 1)
        except urllib.error.HTTPError as error:
            if not _is_temporary(error.code):
                raise NotThere(f"there is nothing at {url} ({error.code})") from error
            reason: Exception = error
        except (OSError, http.client.HTTPException) as error:
            reason = error
        else:
            if len(data) > MAX_BYTES:
                raise NotThere(f"the file at {url} is larger than {MAX_BYTES // 10**6} MB")
            return data
        if num_tries < _NUM_TRIES:
            time.sleep(_PAUSE_S * num_tries)
    raise CorpusFault(
        f"cannot fetch {url} ({reason}): run the command again, fetched archives are kept"
    ) from reason


def fetch_archive(link: ArchiveLink, cache: Path, read: ReadPage) -> Path:
    """Return the archive's file in the cache, fetched if it is not there.

    Raises CorpusFault if its digest is wrong, and what ``read`` raises.
    """
    file = cache / f"{link.digest[:32]}-{_NO_FILE_NAME.sub('_', link.file_name)}"
    if file.is_file():
        if has_digest(file.read_bytes(), link):
            return file
        file.unlink()
    data = read(link.url)
    if not has_digest(data, link):
        raise CorpusFault(f"{link.url} is not the archive of the index: its digest differs")
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(file.name + ".unfinished")
    unfinished.write_bytes(data)
    unfinished.replace(file)
    return file


@cache
def _opener() -> urllib.request.OpenerDirector:
    """Build the opener once: reading the certificates takes longer than most pages."""
    handler = urllib.request.HTTPSHandler(context=ssl.create_default_context())
    return urllib.request.build_opener(handler)


def _is_temporary(code: int) -> bool:
    """Whether an HTTP error may be gone at the next try."""
    return code >= 500 or code in (408, 429)


def has_digest(data: bytes, link: ArchiveLink) -> bool:
    """Whether the bytes have the digest of the index."""
    return hashlib.new(link.digest_name, data).hexdigest() == link.digest


def sha256_of(file: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
