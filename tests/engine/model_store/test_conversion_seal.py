"""A converted model is used only if this user converted it, and if it has not changed since."""

import os
import shutil
from pathlib import Path

import pytest
from toy_causal import quiet

from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.gguf.convert import convert, problem_of_conversion

WEIGHTS = "model.safetensors"


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of this test's own."""
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path, toy_gguf: Path) -> Path:
    convert(toy_gguf, tmp_path / "converted" / "toy", quiet)
    return tmp_path / "converted" / "toy"


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".seal"}


def change(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)


DAMAGES = [
    lambda folder: change(folder / "config.json"),
    lambda folder: change(folder / "tokenizer.json"),
    lambda folder: change(folder / WEIGHTS),
    lambda folder: change(folder / "intarsia.seal"),
    lambda folder: (folder / "tokenizer.json").unlink(),
    lambda folder: (folder / "intarsia.seal").write_bytes(b""),
    lambda folder: (folder / "intarsia.seal").unlink(),  # as of an earlier version, or planted
    lambda folder: shutil.rmtree(os.environ["INTARSIA_DATA_DIR"]),  # the key is another one
    pytest.param(
        lambda folder: (folder / WEIGHTS).chmod(0o666),
        marks=pytest.mark.skipif(os.name == "nt", reason="modes of Unix"),
    ),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_not_as_it_was_sealed_is_converted_again(folder, toy_gguf, damage, caplog):
    assert problem_of_conversion(folder) is None
    before = content(folder)
    damage(folder)
    assert problem_of_conversion(folder) is not None
    convert(toy_gguf, folder, quiet)
    assert "the model is converted again" in caplog.text
    assert content(folder) == before
    assert problem_of_conversion(folder, is_whole=True) is None


def test_the_seal_of_another_model_is_not_valid(folder: Path) -> None:
    other = Path(shutil.copytree(folder, folder.with_name("other")))
    assert str(problem_of_conversion(other)).endswith("or by an earlier version")


def test_a_file_in_place_of_the_folder_is_replaced(folder: Path, toy_gguf: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")
    convert(toy_gguf, folder, quiet)
    assert problem_of_conversion(folder) is None


def test_weights_that_were_only_copied_are_hashed_once(folder: Path, monkeypatch):
    shutil.copy(folder / WEIGHTS, folder / "copy")
    (folder / "copy").replace(folder / WEIGHTS)
    assert problem_of_conversion(folder) is None
    hashed: list[str] = []
    monkeypatch.setattr(
        "intarsia.engine.model_store.gguf.convert.sha256_of", lambda path: hashed.append(path.name)
    )
    problem_of_conversion(folder)
    assert WEIGHTS not in hashed


def test_damage_that_the_system_did_not_note_is_found_by_the_doctor(folder: Path, monkeypatch):
    """As of a disk that returns other bits than were written."""
    identity = "intarsia.engine.model_store.gguf.convert._identity"
    monkeypatch.setattr(identity, lambda path: (1,))
    problem_of_conversion(folder)  # note that identity
    change(folder / WEIGHTS)
    assert problem_of_conversion(folder) is None
    assert str(problem_of_conversion(folder, is_whole=True)).endswith("is damaged")


@pytest.mark.skipif(os.name == "nt", reason="modes of Unix")
def test_a_cache_that_others_may_write_is_refused_with_the_remedy(folder, toy_gguf):
    folder.parent.chmod(0o777)
    with pytest.raises(ModelError, match=r"written by other users: run chmod.*INTARSIA_CACHE_DIR"):
        convert(toy_gguf, folder, quiet)
    folder.parent.chmod(0o755)


def test_without_a_place_for_a_key_the_path_alone_must_do(folder: Path, monkeypatch):
    (folder / "intarsia.seal").unlink()
    monkeypatch.setattr("intarsia.engine.model_store.gguf.convert.open_seals", lambda: None)
    assert problem_of_conversion(folder) is None
