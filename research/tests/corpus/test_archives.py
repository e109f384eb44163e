"""Archives are fetched over https with digests that fit, and read, never unpacked."""

import email.message
import io
import tarfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest
from small_packages import tar_bytes, zip_bytes

from intarsia_research.corpus import fetch
from intarsia_research.corpus.fetch import NotThere, fetch_archive, read_page
from intarsia_research.corpus.members import MAX_MEMBER_BYTES, BadArchive, read_members
from intarsia_research.corpus.package_list import ArchiveLink
from intarsia_research.errors import CorpusFault

FILES = {
    "top/good.py": "x = 1\n",
    "top/deep/also.py": "y = 2\n",
    "top/notes.txt": "not wanted\n",
    "../outside.py": "evil\n",
    "/etc/evil.py": "evil\n",
    "top/../../up.py": "evil\n",
}


def paths(archive: Path) -> list[str]:
    return [it.path for it in read_members(archive, is_wanted=lambda path: path.endswith(".py"))]


@pytest.mark.parametrize(("name", "pack"), [("a.whl", zip_bytes), ("a.tar.gz", tar_bytes)])
def test_names_that_point_outside_are_left_out_and_nothing_is_written(
    tmp_path, name, pack, monkeypatch
):
    folder = tmp_path / "in"
    folder.mkdir()
    monkeypatch.chdir(folder)
    archive = folder / name
    archive.write_bytes(pack(FILES))
    assert paths(archive) == ["top/deep/also.py", "top/good.py"]
    assert sorted(tmp_path.rglob("*")) == [folder, archive]


@pytest.mark.parametrize("pack", [zip_bytes, tar_bytes])
def test_the_folder_that_all_lie_in_is_no_part_of_a_path(tmp_path: Path, pack):
    archive = tmp_path / "a"
    archive.write_bytes(pack({"pkg-1.0/src/a.py": "a", "pkg-1.0/README": "b"}))
    assert paths(archive) == ["src/a.py"]
    archive.write_bytes(pack({"pkg/src/a.py": "a", "setup.py": "b"}))
    assert paths(archive) == ["pkg/src/a.py", "setup.py"]


def test_links_and_devices_are_left_out(tmp_path: Path):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as packed:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
            entry = tarfile.TarInfo("link.py")
            entry.type, entry.linkname = kind, "/etc/passwd"
            packed.addfile(entry)
    archive = tmp_path / "a.tar.xz"
    archive.write_bytes(out.getvalue())
    assert paths(archive) == []


@pytest.mark.parametrize("pack", [zip_bytes, tar_bytes])
def test_a_large_member_is_told_without_its_bytes(tmp_path: Path, pack):
    archive = tmp_path / "a"
    archive.write_bytes(pack({"a.py": b"#" * (MAX_MEMBER_BYTES + 1), "b.py": b"#"}))
    large, small = read_members(archive, is_wanted=lambda _: True)
    assert (large.data, large.num_bytes) == (None, MAX_MEMBER_BYTES + 1)
    assert small.data == b"#"


@pytest.mark.parametrize(
    "data", [b"", b"no archive", tar_bytes({"a.py": "x" * 9_000})[:60], b"PK\x03\x04 and no more"]
)
def test_what_is_damaged_is_one_line(tmp_path: Path, data: bytes):
    archive = tmp_path / "bad.tar.gz"
    archive.write_bytes(data)
    with pytest.raises(BadArchive, match=r"bad\.tar\.gz"):
        paths(archive)


def test_an_archive_that_hides_a_huge_one_is_refused(tmp_path: Path):
    archive = tmp_path / "bomb.whl"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.py", b"\0" * 50_000)
    data = bytearray(archive.read_bytes())
    place = data.find(b"PK\x01\x02") + 24  # the size that the directory claims
    data[place : place + 4] = (4_000_000_000).to_bytes(4, "little")
    archive.write_bytes(data)
    with pytest.raises(BadArchive, match="more files or bytes than a source package"):
        paths(archive)


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
