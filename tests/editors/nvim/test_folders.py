"""Folders in Neovim: which one a file belongs to, its settings, and buffers without a file."""

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
