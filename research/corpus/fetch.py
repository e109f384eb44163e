"""Fetches by HTTP: a page as bytes, an archive as a file whose digest was checked.

Archives are kept in a folder under their digest, so that a build goes on where it was interrupted.
What is fetched is data: nothing of it is run or unpacked here.
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

from intarsia.research.corpus.release import ArchiveLink
from intarsia.research.errors import CorpusFault

ReadPage: TypeAlias = Callable[[str], bytes]
"""An address → what lies there. Raises NotThere, or CorpusFault where nobody answers."""

MAX_BYTES = 400_000_000
TIMEOUT_S = 60.0
_NUM_TRIES = 3
_PAUSE_S = 2.0
_NO_FILE_NAME = re.compile(r"[^\w.+~-]")


class NotThere(Exception):
    """Nothing lies at an address. The message is one line."""


def read_page(url: str) -> bytes:
    """Return what lies at an https address, with a few tries."""
    if urllib.parse.urlsplit(url).scheme != "https":
        raise CorpusFault(f"{url} is no https address: give one")
    request = urllib.request.Request(url, headers={"User-Agent": "intarsia-corpus"})
    for num_tries in range(1, _NUM_TRIES + 1):
        try:
            with _opener().open(request, timeout=TIMEOUT_S) as answer:
                data: bytes = answer.read(MAX_BYTES + 1)
        except urllib.error.HTTPError as error:
            if not _is_worth_a_try(error.code):
                raise NotThere(f"nothing is to be had at {url} ({error.code})") from error
            reason: Exception = error
        except (OSError, http.client.HTTPException) as error:
            reason = error
        else:
            if len(data) > MAX_BYTES:
                raise NotThere(f"what lies at {url} is larger than {MAX_BYTES // 10**6} MB")
            return data
        if num_tries < _NUM_TRIES:
            time.sleep(_PAUSE_S * num_tries)
    raise CorpusFault(
        f"cannot fetch {url} ({reason}): run it again, what has come is kept"
    ) from reason


def fetch_archive(link: ArchiveLink, cache: Path, read: ReadPage) -> Path:
    """Return the archive's file in the cache. Raises CorpusFault where its digest is another."""
    file = cache / f"{link.digest[:32]}-{_NO_FILE_NAME.sub('_', link.file_name)}"
    if file.is_file():
        if has_digest(file.read_bytes(), link):
            return file
        file.unlink()
    data = read(link.url)
    if not has_digest(data, link):
        raise CorpusFault(f"{link.url} is not what its index says: its digest is another")
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(file.name + ".unfinished")
    unfinished.write_bytes(data)
    unfinished.replace(file)
    return file


@cache
def _opener() -> urllib.request.OpenerDirector:
    """Read the certificates once: that takes longer than most pages."""
    handler = urllib.request.HTTPSHandler(context=ssl.create_default_context())
    return urllib.request.build_opener(handler)


def _is_worth_a_try(code: int) -> bool:
    """Whether the fault is the server's, or the hour's: not the address's."""
    return code >= 500 or code in (408, 429)


def has_digest(data: bytes, link: ArchiveLink) -> bool:
    """Whether the bytes are those that the index means."""
    return hashlib.new(link.digest_name, data).hexdigest() == link.digest


def sha256_of(file: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
