"""Progress is measured on the disk; only bytes that this user's own programs wrote are used."""

import os
import random
import shutil
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from intarsia.engine.cache.own_file import SealedFiles, Seals, open_seals
from intarsia.engine.cache.progress import report_growth, size_of

CONTENT = bytes(range(256)) * 40
on_unix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "data"


def seals() -> Seals:
    found = open_seals()
    assert found is not None
    return found


def knows(seal: bytes) -> bool:
    return seals().is_valid(seal, "name", CONTENT)


def test_the_key_stays_and_is_for_this_user_alone(data: Path) -> None:
    seal = seals().seal("name", CONTENT)
    assert knows(seal)
    assert not seals().is_valid(seal, "other name", CONTENT)
    assert not seals().is_valid(seal, "name", CONTENT[:-1])


@pytest.mark.parametrize(
    "damage",
    [
        lambda key: key.write_bytes(b""),
        lambda key: key.write_bytes(b"short"),
        lambda key: key.write_bytes(bytes(33)),
        lambda key: key.unlink(),
        pytest.param(lambda key: key.chmod(0o644), marks=on_unix),  # others could read it
    ],
)
def test_a_key_of_no_use_is_made_again(data: Path, damage: Callable[[Path], object]) -> None:
    seal = seals().seal("name", CONTENT)
    damage(data / "seal.key")
    assert not knows(seal)
    assert knows(seals().seal("name", CONTENT))
    assert os.name == "nt" or (data / "seal.key").stat().st_mode & 0o777 == 0o600


@on_unix
def test_a_data_folder_of_all_users_holds_no_key(data: Path, tmp_path: Path) -> None:
    data.mkdir()
    data.chmod(0o777)
    assert knows(seals().seal("name", CONTENT))
    assert not (data / "seal.key").exists()
    assert (tmp_path / "cache" / "seal.key").is_file()
    (tmp_path / "cache").chmod(0o777)
    assert open_seals() is None


def damaged(raw: bytes, chance: random.Random) -> bytes:
    """Return what a bad disk, a power cut or another program may leave."""
    at = chance.randrange(len(raw))
    kinds = (
        raw[:at] + bytes([raw[at] ^ 1 << chance.randrange(8)]) + raw[at + 1 :],
        raw[:at],
        b"",
        raw[:at] + bytes(4096) + raw[at + 4096 :],
        bytes(len(raw)),
        raw + b"\0",
    )
    return chance.choice(kinds)


def test_no_damage_is_taken_for_the_content(data: Path, tmp_path: Path) -> None:
    files = SealedFiles(tmp_path, seals(), suffix=".sealed")
    files.write("name", CONTENT)
    path = tmp_path / "name.sealed"
    raw, chance = path.read_bytes(), random.Random(0)
    for _ in range(300):
        path.write_bytes(damaged(raw, chance))
        assert files.read("name") is None
        assert not path.exists(), "it is made again"
    path.write_bytes(raw)
    assert files.read("name") == CONTENT
    (tmp_path / "other.sealed").write_bytes(raw)
    assert files.read("other") is None, "a file that was renamed"
    assert [entry.name for entry in tmp_path.glob("*.sealed")] == ["name.sealed"]


def test_growth_is_reported_from_the_present_size(tmp_path: Path) -> None:
    reports: list[tuple[str, float | None]] = []
    has_grown = threading.Event()

    def notice(stage: str, fraction: float | None) -> None:
        reports.append((stage, fraction))
        if fraction == 0.75:
            has_grown.set()

    def written(path: Path, num_bytes: int) -> None:
        path.touch()
        os.truncate(path, num_bytes)

    written(tmp_path / "first", 50_000_000)
    with report_growth(tmp_path, 200_000_000, "downloading", notice):
        (tmp_path / "deeper").mkdir()
        written(tmp_path / "deeper" / "second", 100_000_000)
        assert has_grown.wait(timeout=30)
    assert reports[0] == ("downloading, 50 of 200 MB", 0.25)


def test_after_a_while_the_rate_and_the_time_left_are_told(tmp_path, monkeypatch):
    words: list[str] = []
    clock = count(0, 5)
    monkeypatch.setattr("intarsia.engine.cache.progress.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("intarsia.engine.cache.progress.size_of", lambda _: 20_000_000 * len(words))
    is_told = threading.Event()

    def notice(stage: str, fraction: float | None) -> None:
        words.append(stage)
        if len(words) == 3:
            is_told.set()

    with report_growth(tmp_path, 100_000_000, "downloading", notice):
        assert is_told.wait(timeout=30)
    assert words[1:3] == [
        "downloading, 20 of 100 MB, 2.0 MB/s, 40 s left",
        "downloading, 40 of 100 MB, 2.7 MB/s, 22 s left",
    ]


def test_the_fraction_never_falls_nor_exceeds_one(tmp_path: Path) -> None:
    fractions: list[float | None] = []
    is_full = threading.Event()
    comes_again = threading.Event()

    def notice(stage: str, fraction: float | None) -> None:
        fractions.append(fraction)
        if not (tmp_path / "twice").exists() and is_full.is_set():
            comes_again.set()
        if fraction == 1.0:
            is_full.set()

    with report_growth(tmp_path, 100, "downloading", notice):
        (tmp_path / "twice").write_bytes(bytes(200))
        assert is_full.wait(timeout=30)
        (tmp_path / "twice").unlink()
        assert comes_again.wait(timeout=30)
    assert fractions[-1] == 1.0


def test_a_folder_that_vanishes_while_it_is_read_counts_nothing(tmp_path: Path) -> None:
    folders = [tmp_path / str(n) for n in range(200)]
    for folder in folders:
        folder.mkdir()
        (folder / "file").write_bytes(b"x")
    remover = threading.Thread(target=lambda: [shutil.rmtree(folder) for folder in folders])
    remover.start()
    while remover.is_alive():
        assert 0 <= size_of(tmp_path) <= len(folders)
    remover.join()
    assert size_of(tmp_path) == 0
