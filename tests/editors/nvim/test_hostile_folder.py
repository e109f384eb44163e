"""A hostile folder that is opened: the plugin runs no program of it and imports no module."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from headless_nvim import ATTACHED, Neovim, headless_nvim
from rule_server import rule_server_command

from intarsia.engine.ipc.address import Address

INTARSIA = str(Path(sys.executable).with_name("intarsia"))
COMMAND = "require('intarsia.server').command()"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with a program named as ours and modules named as those that it imports."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    mark = folder / "was_run"
    write_program(folder / "intarsia", f"touch {mark}")
    for name in ("click", "msgspec", "json", "re", "torch", "sitecustomize"):
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    (folder / "a.py").write_text("one = \n")
    return folder


def write_program(path: Path, script: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@contextmanager
def opened(runtime, folder, options, environment) -> Iterator[Neovim]:
    """Open a.py of the folder as if Neovim was started there.

    Without Neovim's own Python, which it starts there to look for its module.
    """
    before = f"vim.cmd.cd({str(folder)!r}) vim.g.loaded_python3_provider = 0"
    environment = {**runtime.as_environment(), **environment}
    with headless_nvim(
        runtime.directory, folder / "a.py", options, environment, before=before
    ) as nvim:
        yield nvim


@pytest.mark.parametrize("path", [":/nonexistent", "."])
def test_the_server_imports_nothing_of_it(runtime: Address, hostile: Path, path: str) -> None:
    """Nor does what the health check runs."""
    options = {"cmd": [INTARSIA, "serve"], "settings": {"preload": False}}
    with opened(runtime, hostile, options, {"PYTHONPATH": path}) as nvim:
        nvim.until(ATTACHED)
        nvim.run("vim.cmd.checkhealth('intarsia')")
        text = "\n".join(nvim.lua("vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
        assert "torch" in text
        assert not (hostile / "was_run").exists()


def test_the_server_works_outside_of_it(runtime: Address, hostile: Path) -> None:
    words = rule_server_command(rules=[("one =", "first")], text="")
    program = write_program(
        runtime.directory / "own",
        f'pwd > "$0.folder"; echo "$PYTHONPATH" > "$0.path"; exec {words[0]} "$@"',
    )
    options = {"cmd": [str(program), *words[1:]]}
    environment = {"PYTHONPATH": f":lib:/usr/local/x:{hostile}/src"}
    with opened(runtime, hostile, options, environment) as nvim:
        nvim.until(ATTACHED)
        worked_in = Path(Path(f"{program}.folder").read_text().strip())
        assert worked_in == runtime.directory / "nvim"  # stdpath("cache")
        assert Path(f"{program}.path").read_text() == "/usr/local/x\n"


@pytest.mark.parametrize("path", ["", ":/nonexistent", "bin"])
def test_no_program_is_looked_up_in_it(runtime: Address, hostile: Path, path: str) -> None:
    write_program(hostile / "bin" / "intarsia", "true")
    with opened(runtime, hostile, {}, {"PATH": path}) as nvim:
        found = nvim.lua(COMMAND)
        assert found is None or not found[0].startswith(str(hostile))
        assert not (hostile / "was_run").exists()


def test_a_program_in_it_is_passed_over(runtime: Address, hostile: Path) -> None:
    """By its name, through a link from outside, and through a link inside that leads out."""
    own = write_program(runtime.directory / "bin" / "intarsia", "true")
    linked = runtime.directory / "linked"
    linked.symlink_to(hostile)
    (hostile / "out").symlink_to(own.parent)
    folders = [hostile, linked, hostile / "out", own.parent]
    with opened(runtime, hostile, {}, {"PATH": ":".join(map(str, folders))}) as nvim:
        assert nvim.lua(COMMAND) == [str(own), "serve"]


def test_a_command_that_is_named_needs_a_full_path(runtime: Address, hostile: Path) -> None:
    with opened(runtime, hostile, {"cmd": ["./intarsia", "serve"]}, {}) as nvim:
        assert nvim.lua(COMMAND) is None
        nvim.tells("give a full path")
        assert not (hostile / "was_run").exists()


def test_programs_below_the_home_are_found_from_the_home(runtime: Address, hostile: Path) -> None:
    environment = {"HOME": str(hostile), "PATH": str(hostile)}
    with opened(runtime, hostile, {"cmd": ["intarsia", "--version"]}, environment) as nvim:
        assert nvim.lua(COMMAND) == [str(hostile / "intarsia"), "--version"]
