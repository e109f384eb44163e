"""How the plugin comes to life: options, keys, the server's command, health, help."""

import subprocess
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from headless_nvim import (
    ATTACHED,
    GHOST_TEXT,
    PLUGIN,
    Neovim,
    find_nvim,
    headless_nvim,
    nvim_environment,
)
from rule_server import rule_server_command

from intarsia.engine.ipc.address import Address

RULES = {"rules": [("one =", "first")], "text": ""}
RULE_SERVER = rule_server_command(**RULES)


@contextmanager
def nvim_with(runtime, options, *, environment=None, before=""):
    file = runtime.directory / "a.py"
    file.write_text("one = \n")
    with headless_nvim(
        runtime.directory,
        file,
        {"settings": {"debounceMs": 0, "deadlineMs": 60_000}, **options},
        {**runtime.as_environment(), **(environment or {})},
        before=before,
    ) as nvim:
        yield nvim


def insert_maps(nvim: Neovim) -> set[str]:
    """Return the keys that the plugin has mapped in the current buffer."""
    return set(
        nvim.run(
            """
            local keys = {}
            for _, mapping in ipairs(vim.api.nvim_buf_get_keymap(0, "i")) do
              if vim.startswith(mapping.desc or "", "intarsia") then
                table.insert(keys, mapping.lhs)
              end
            end
            return keys
            """
        )
    )


def test_nothing_is_mapped_with_keys_off(runtime: Address) -> None:
    with nvim_with(runtime, {"cmd": RULE_SERVER, "keys": False}) as nvim:
        nvim.until(ATTACHED)
        nvim.keys("A")
        nvim.shows("first")
        assert insert_maps(nvim) == set()


def test_a_key_can_be_another_and_falls_back_to_what_it_did(runtime: Address) -> None:
    keys = {"accept": "<Tab>", "next": False}
    before = "vim.keymap.set('i', '<Tab>', function() return '--' end, { expr = true })"
    with nvim_with(runtime, {"cmd": RULE_SERVER, "keys": keys}, before=before) as nvim:
        nvim.until(ATTACHED)
        assert insert_maps(nvim) == {"<Tab>", "<M-w>", "<M-j>", "<M-s>", "<M-p>", "<M-e>", "<M-g>"}
        nvim.keys("A")
        nvim.shows("first")
        nvim.keys("<Tab><Tab>")
        nvim.holds("one = first--")


def test_a_missing_command_is_told_once_with_what_to_do(runtime: Address) -> None:
    with nvim_with(runtime, {"cmd": ["/nowhere/intarsia", "serve"]}) as nvim:
        nvim.until("vim.fn.execute('messages'):find('nowhere') ~= nil")
        nvim.run("vim.cmd.edit('b.py') vim.cmd.edit('c.py')")
        assert nvim.messages().count("nowhere") == 1
        assert nvim.lua("#vim.lsp.get_clients()") == 0


def test_the_command_is_found_on_the_path_else_in_the_checkout(runtime, tmp_path):
    nothing = {"PATH": "/nonexistent"}
    with nvim_with(runtime, {}, environment=nothing) as nvim:
        assert nvim.lua("require('intarsia.server').command()") == [
            str(PLUGIN.parents[1] / ".venv" / "bin" / "intarsia"),
            "serve",
        ]
        program = tmp_path / "intarsia"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        nvim.run("vim.env.PATH = ...", str(tmp_path))
        assert nvim.lua("require('intarsia.server').command()") == [str(program), "serve"]


def test_a_wrong_option_is_named_and_the_rest_applies(runtime: Address) -> None:
    options = {"cmd": RULE_SERVER, "draft": True, "keys": {"acept": "<Tab>"}, "drafts": 1}
    with nvim_with(runtime, options) as nvim:
        nvim.until(ATTACHED)
        told = nvim.messages()
        assert 'unknown option "draft"' in told
        assert 'unknown key "acept"' in told
        assert 'option "drafts" cannot be a number' in told
        nvim.keys("A")
        nvim.shows("first")


def test_enabling_the_server_is_enough(runtime: Address) -> None:
    """Without setup, the defaults hold; the command is searched for."""
    program = runtime.directory / "bin" / "intarsia"
    program.parent.mkdir()
    words = " ".join(f"'{word}'" for word in RULE_SERVER)
    program.write_text(f"#!/bin/sh\nexec {words}\n")
    program.chmod(0o755)
    init = runtime.directory / "init.lua"
    init.write_text(f"vim.opt.rtp:prepend('{PLUGIN}')\nvim.lsp.enable('intarsia')\n")
    file = runtime.directory / "a.py"
    file.write_text("one = \n")
    path = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    with headless_nvim(runtime.directory, file, init, {**runtime.as_environment(), **path}) as nvim:
        nvim.until(ATTACHED)
        nvim.keys("A")
        nvim.shows("first")
        assert "<M-l>" in insert_maps(nvim)


def test_as_completion_items_it_draws_nothing_and_fills_the_menu(runtime: Address) -> None:
    with nvim_with(runtime, {"cmd": RULE_SERVER, "completion": True}) as nvim:
        nvim.until(ATTACHED)
        nvim.run(
            """
            vim.o.completeopt = "menuone,noselect"
            vim.lsp.completion.enable(true, vim.lsp.get_clients()[1].id, 0, {})
            """
        )
        nvim.keys("A")
        nvim.run("vim.lsp.completion.get()")
        nvim.until("vim.fn.pumvisible() == 1")
        items = nvim.lua("vim.fn.complete_info({ 'items' }).items")
        assert [item["word"] for item in items] == ["first"]
        assert nvim.lua(GHOST_TEXT) is None
        assert insert_maps(nvim) == {"<M-g>"}  # next edits are drawn all the same
        nvim.keys("<C-n><C-y>")
        nvim.holds("one = first")


def test_native_ghost_text_is_ours_where_neovim_has_none(runtime: Address) -> None:
    with nvim_with(runtime, {"cmd": RULE_SERVER, "native": True}) as nvim:
        nvim.until(ATTACHED)
        assert "needs Neovim 0.12" in nvim.messages()
        nvim.keys("A")
        nvim.shows("first")


def test_the_help_has_clean_tags_and_they_are_the_ones_in_the_folder(tmp_path: Path) -> None:
    written = (PLUGIN / "doc" / "tags").read_text()
    (tmp_path / "intarsia.txt").write_text((PLUGIN / "doc" / "intarsia.txt").read_text())
    done = subprocess.run(
        [find_nvim(), "--headless", "--clean", "-c", f"helptags {tmp_path}", "-c", "quit"],
        capture_output=True,
        text=True,
        env=nvim_environment(tmp_path, {}),
        timeout=30,
    )
    assert done.stderr == ""
    assert (tmp_path / "tags").read_text() == written


def test_a_command_or_key_of_no_use_is_told(runtime: Address) -> None:
    options = {"cmd": [], "keys": {"accept": True}}
    with nvim_with(runtime, options) as nvim:
        told = nvim.messages()
        assert 'option "cmd"' in told
        assert 'key "accept"' in told
        assert "Error" not in told


def test_the_health_check_tells_server_keys_and_client(runtime: Address) -> None:
    before = "vim.keymap.set('i', '<M-l>', '<Right>')"
    with nvim_with(runtime, {"cmd": RULE_SERVER}, before=before) as nvim:
        nvim.until(ATTACHED)
        nvim.run("vim.cmd.checkhealth('intarsia')")
        text = "\n".join(nvim.lua("vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
        assert f"plugin {version('intarsia')}" in text
        assert f"server {version('intarsia')}" in text
        assert "attached" in text
        assert "<M-l>" in text


def test_nothing_is_mapped_where_the_server_is_not_attached(edit) -> None:
    nvim = edit("one = \n")
    assert "<M-l>" in insert_maps(nvim)
    nvim.run("vim.cmd.enew() vim.bo.buftype = 'nofile' vim.bo.filetype = 'python'")
    assert insert_maps(nvim) == set()


def test_every_option_key_and_command_is_in_the_help(edit) -> None:
    text = (PLUGIN / "doc" / "intarsia.txt").read_text()
    nvim = edit("one = \n")
    options = nvim.lua("require('intarsia.options').current")
    for name in [*options, *options["keys"]]:
        assert f"*intarsia-{name}*" in text, name
    for name in nvim.lua("require('intarsia.command').complete('', 'Intarsia ')"):
        assert f"*:Intarsia-{name}*" in text, name


def test_a_restart_that_is_looked_at_late_tells_no_error(edit) -> None:
    nvim = edit("one = \n")
    # Timers go on while nothing that is scheduled runs, as they do before a prompt.
    nvim.run(
        """
        for _, client in ipairs(vim.lsp.get_clients()) do
          client:stop(true)
        end
        vim.wait(5000, function() return #vim.lsp.get_clients() == 0 end)
        require("intarsia.server").restart()
        vim.wait(300, function() end, 10, true)
        """
    )
    nvim.until(ATTACHED)
    assert "closing" not in nvim.messages()


def test_a_file_that_is_closed_and_opened_again_gets_ghost_text(edit) -> None:
    nvim = edit("one = \n")
    for command in ("bdelete!", "bwipeout!"):
        nvim.until(ATTACHED)
        nvim.keys("A")
        nvim.shows("first")
        nvim.keys("<Esc>")
        nvim.run(
            "local file = vim.api.nvim_buf_get_name(0) vim.cmd(...) vim.cmd.edit(file)", command
        )
    nvim.until(ATTACHED)
    nvim.keys("A")
    nvim.shows("first")
    nvim.keys("<M-l>")
    nvim.holds("one = first")
