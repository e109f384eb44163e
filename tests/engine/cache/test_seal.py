"""Only bytes that this user's own programs wrote are used; a key that is lost is made again."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from intarsia.engine.cache.own_file import SealedFiles, Seals, open_seals

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
