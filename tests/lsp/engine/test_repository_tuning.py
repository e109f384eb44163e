"""Which model requests name where a repository has a tuning of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from editor_clients import ask_inline, editing, inline_items, log_of, neovim, open_document
from engine_watch import engine_once, status_of
from kept_tunings import keep_some
from rule_server import rule_server, rule_server_command

from intarsia.engine.ipc.address import Address
from intarsia.lsp.engine.repository_tuning import (
    ABOUT_NAME,
    choose_model,
    key_of,
    tuning_folder,
)
from intarsia.lsp.settings import Settings

ON = Settings(repository_tuning=True)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "own" / "c++ code").mkdir(parents=True)
    return tmp_path / "own" / "c++ code"


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights"
    path.write_bytes(b"numbers")
    return path


@pytest.mark.parametrize(
    ("model", "is_default_model", "is_on", "note"),
    [
        (None, True, False, None),
        (None, True, True, "the tuning of {root} is in use"),
        ("base", False, True, "the tuning of {root} is in use"),
        (None, False, True, "is for base, not for"),
        ("other", False, True, "is for base, not for"),
        ("base+/of/my/own.safetensors", False, True, "is for base, not for"),
    ],
)
def test_the_model_that_a_tuning_was_made_for_gets_it(
    root: Path,
    weights: Path,
    model: str | None,
    is_default_model: bool,
    is_on: bool,
    note: str | None,
) -> None:
    path = keep_some(root, weights, is_default_model=is_default_model)
    settings = Settings(repository_tuning=is_on, model=model)
    choice = choose_model(settings, [root.parent, root])  # the first folder with one decides
    is_used = note is not None and "in use" in note
    assert choice.model == (f"base+{path}" if is_used else model)
    assert (note or "").format(root=root) in (choice.note or "")
    assert (choice.note is None) == (note is None)


def test_a_repository_without_a_tuning_is_told(root: Path) -> None:
    choice = choose_model(ON, [root])
    assert choice.model is None
    assert choice.note == f"no tuning is kept for {root}: see `intarsia train --repo`"
    assert choose_model(ON, []).note == "no folder is open, so no repository's tuning is used"


def test_a_tuning_that_was_lost_is_told(root: Path, weights: Path) -> None:
    keep_some(root, weights).unlink()
    assert "train it again" in (choose_model(ON, [root]).note or "")
    (tuning_folder(root) / ABOUT_NAME).write_text("{")
    choice = choose_model(ON, [root])
    assert choice.model is None
    assert "cannot be read" in (choice.note or "")


def test_a_repository_is_known_by_its_place_not_by_its_way(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    assert key_of(link) == key_of(root)
    assert key_of(root) != key_of(root.parent)
    assert "+" not in key_of(root)  # it divides a model's name from its tuning


def test_new_weights_are_a_new_file_and_the_former_ones_go(root: Path, weights: Path) -> None:
    former = keep_some(root, weights)
    weights.write_bytes(b"other numbers")
    path = keep_some(root, weights)
    assert path != former
    assert {it.name for it in path.parent.iterdir()} == {path.name, ABOUT_NAME}
    assert path.read_bytes() == b"other numbers"


async def test_requests_carry_the_tuning_of_the_opened_folder_and_no_others(
    runtime: Address, root: Path, weights: Path
) -> None:
    path = keep_some(root, weights)
    who = neovim()
    who.root_uri = root.as_uri()
    server = rule_server_command(text="1 + 1")
    options = {"repositoryTuning": True, "debounceMs": 0}
    async with editing(who, runtime, server=server, options=options) as client:
        uri = open_document(client, "a.py", "y = ")
        await inline_items(client, ask_inline(uri, 0, 4))
        status = await status_of(runtime)
        assert status is not None
        assert status.model == f"base+{path}"
        assert log_of(client).count(f"the tuning of {root} is in use") == 1
    async with editing(neovim(), runtime, server=server):
        await engine_once(runtime, lambda status: status.model == "base")


@pytest.mark.parametrize("root_uri", ["file:///a%00b", "LOOP"])
async def test_a_folder_that_cannot_be_is_survived(
    runtime: Address, tmp_path: Path, root_uri: str
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    who = neovim()
    who.root_uri = loop.as_uri() if root_uri == "LOOP" else root_uri
    options = {"repositoryTuning": True, "debounceMs": 0}
    server = rule_server(text="1 + 1")
    async with editing(who, runtime, server=server, options=options) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await inline_items(client, ask_inline(uri, 0, 4))
        assert "cannot be read" in log_of(client)
