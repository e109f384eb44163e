"""Progress is measured on the disk, where other programs write and delete files."""

import os
import shutil
import threading
from itertools import count
from pathlib import Path

from intarsia.engine.cache.progress import report_growth, size_of


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
