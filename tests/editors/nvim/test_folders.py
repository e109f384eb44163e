"""Folders in Neovim: which one a file belongs to, its settings, and one that is hostile."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from headless_nvim import ATTACHED, GHOST_TEXT, Neovim, headless_nvim
from rule_server import rule_server_command

from intarsia.engine.ipc.address import Address

SERVER = rule_server_command(rules=[("one =", "first")], text="")
OPTIONS = {"cmd": SERVER, "settings": {"debounceMs": 0, "deadlineMs": 60_000}}
BY_FOLDER = """
_G.asked = {}
require('intarsia').setup({
  cmd = require('intarsia.options').current.cmd,
  settings = function(folder)
    table.insert(_G.asked, vim.fs.basename(folder or ''))
    local is_off = folder and vim.endswith(folder, 'quiet')
    return { debounceMs = 0, disabledLanguages = is_off and { 'python' } or {} }
  end,
})
"""
ROOT = "require('intarsia.server').root(0)"
REASON = "vim.tbl_get(require('intarsia').info() or {}, 'last', 'reason')"
FOLDERS = """vim.iter(vim.lsp.get_clients({ name = 'intarsia' })[1].workspace_folders or {})
  :map(function(folder) return folder.name end):totable()"""


@contextmanager
def nvim_in(home: Path, runtime: Address, file: Path, *, after: str = "") -> Iterator[Neovim]:
    before = f"vim.cmd.cd([[{home}]])"
    environment = {**runtime.as_environment(), "HOME": str(home)}
    with headless_nvim(
        runtime.directory, file, OPTIONS, environment, before=before, after=after
    ) as nvim:
        nvim.until(ATTACHED)
        yield nvim


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write a file below the home, and return its path."""

    def write_file(name: str) -> Path:
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one = \n")
        return path

    write_file("empty.py")
    return write_file


def test_a_file_belongs_to_its_repository_its_manifest_or_its_own_folder(runtime, tmp_path, write):
    home = tmp_path / "home"
    for folder in ("repository/.git", ".git"):  # the home is one too, of settings perhaps
        (home / folder).mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere" / "a.py"
    elsewhere.parent.mkdir()
    elsewhere.write_text("")
    write("repository/part/package.json")
    write("manifest/pyproject.toml")
    expected = {
        write("repository/deep/a.py"): home / "repository",
        write("repository/part/a.js"): home / "repository",
        write("manifest/src/a.py"): home / "manifest",
        write("scripts/a.py"): home / "scripts",
        write("a.py"): None,
        elsewhere: None,
    }
    with nvim_in(home, runtime, home / "empty.py") as nvim:
        for file, folder in expected.items():
            nvim.run("vim.cmd.edit(...)", str(file))
            assert nvim.lua(ROOT) == (folder and str(folder)), file


def test_a_file_in_the_home_opens_no_folder(runtime, tmp_path, write):
    with nvim_in(tmp_path / "home", runtime, write("note.py")) as nvim:
        nvim.keys("A")
        nvim.shows("first")
        assert nvim.lua(FOLDERS) in ([], {})
        nvim.edit(write("scripts/a.py"), "one = \n")
        assert nvim.lua(FOLDERS) == [str(tmp_path / "home" / "scripts")]


def test_the_settings_are_those_of_the_files_folder(runtime, tmp_path, write):
    loud, quiet = write("loud/a.py"), write("quiet/a.py")
    with nvim_in(tmp_path / "home", runtime, loud, after=BY_FOLDER) as nvim:
        nvim.keys("A")
        nvim.shows("first")
        nvim.edit(quiet, "one = \n")
        nvim.until("vim.list_contains(_G.asked, 'quiet')")
        nvim.keys("A")
        nvim.until(f"{REASON} == 'python is in disabledLanguages'")
        assert nvim.lua(GHOST_TEXT) is None
        nvim.edit(loud, "one = \n")
        nvim.keys("A")
        nvim.shows("first")


def test_a_buffer_without_a_name_gets_suggestions_before_and_after_it_is_saved(
    runtime, tmp_path, write
):
    home = tmp_path / "home"
    with nvim_in(home, runtime, write("scripts/a.py")) as nvim:
        nvim.run("vim.cmd.enew() vim.bo.filetype = 'python'")
        nvim.until(ATTACHED)
        nvim.keys("ione = ")
        nvim.shows("first")
        (home / "new").mkdir()
        nvim.keys(f"<Esc>:write {home}/new/saved.py<CR>")
        nvim.until("not vim.bo.modified")
        nvim.until(f"vim.list_contains({FOLDERS}, [[{home}/new]])")
        nvim.keys("ox = 2<CR>one = ")
        nvim.shows("first")
        nvim.keys("<M-l>")
        nvim.holds("one = |x = 2|one = first")
        assert "Error" not in nvim.messages()


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
