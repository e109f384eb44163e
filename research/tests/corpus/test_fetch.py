"""What is fetched: https only, a few tries where trying may help, and digests that fit."""

import email.message
import io
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from intarsia_research.corpus import fetch
from intarsia_research.corpus.fetch import NotThere, fetch_archive, read_page
from intarsia_research.corpus.package_list import ArchiveLink
from intarsia_research.errors import CorpusFault

PAGE = "https://somewhere.invalid/page"


class Answers:
    """An opener that gives one answer after the other."""

    def __init__(self, *answers: bytes | int | OSError) -> None:
        self.left = list(answers)

    def open(self, request: urllib.request.Request, timeout: float) -> io.BytesIO:
        answer = self.left.pop(0)
        if isinstance(answer, bytes):
            return io.BytesIO(answer)
        if isinstance(answer, int):
            headers = email.message.Message()
            raise urllib.error.HTTPError(request.full_url, answer, "no", headers, None)
        raise answer


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch):
    def given(*answers: bytes | int | OSError) -> Answers:
        opener = Answers(*answers)
        monkeypatch.setattr(fetch, "_opener", lambda: opener)
        monkeypatch.setattr(fetch, "_PAUSE_S", 0)
        return opener

    return given


@pytest.mark.parametrize("url", ["http://a.invalid/x", "file:///etc/passwd", "ftp://a/b", "x"])
def test_only_https_is_asked(url: str):
    with pytest.raises(CorpusFault, match="not an https address"):
        read_page(url)


@pytest.mark.parametrize("fault", [500, 503, 429, ConnectionResetError("reset"), TimeoutError()])
def test_what_may_pass_is_tried_again(answer, fault: int | OSError):
    answer(fault, fault, b"there")
    assert read_page(PAGE) == b"there"


@pytest.mark.parametrize("code", [404, 403, 410])
def test_what_is_not_there_is_asked_for_once(answer, code: int):
    opener = answer(code, b"never")
    with pytest.raises(NotThere, match=str(code)):
        read_page(PAGE)
    assert opener.left == [b"never"]


def test_a_net_that_stays_away_is_a_fault_that_says_what_to_do(answer):
    answer(*[OSError("no route")] * 3)
    with pytest.raises(CorpusFault, match=r"cannot fetch .* \(no route\): run the command again"):
        read_page(PAGE)


def test_an_archive_is_kept_and_an_address_is_no_path(tmp_path: Path):
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"  # of b"test"
    link = ArchiveLink(url="https://a.invalid/%2e%2e%2fup.whl", digest_name="sha256", digest=digest)
    cache = tmp_path / "cache"
    file = fetch_archive(link, cache, lambda _url: b"test")
    assert file.parent == cache
    assert list(tmp_path.rglob("*.whl")) == [file]
    assert fetch_archive(link, cache, pytest.fail) == file
