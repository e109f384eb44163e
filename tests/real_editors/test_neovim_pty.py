"""Neovim as its users see it: a screen on a pseudo-terminal, the plugin, the server, the model."""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from engine_counts import engine_status
from headless_nvim import ATTACHED, GHOST_TEXT
from neovim_terminal import NeovimTerminal, neovim_terminal
from rule_server import rule_server_command

from intarsia.engine.ipc.address import Address

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
]

SERVER = [str(Path(sys.executable).with_name("intarsia")), "serve"]
SUM = 'def add(left, right):\n    """Return the sum of left and right."""\n    return\n'
LOOP = (
    "def fizz_buzz(count):\n"
    '    """Return "fizz", "buzz", "fizzbuzz" or the number itself, for 1 to count."""\n'
    "    words = []\n"
    "    for number in range(1, count + 1):\n\n"
)
WORDS = (
    "def word_counts(text):\n"
    '    """Return how often each word is in the text, in small letters, without stops."""\n'
    "    counts = {}\n"
    "    for word in text.split():\n\n"
)
SEARCH = (
    "def index_of(items, wanted):\n"
    '    """Return the position of wanted in items, or -1 when it is not there."""\n\n'
)
SENT_AFTER_S = 1.0
"""Neovim sends what is typed in this time as one change."""

OpenTerminal = Callable[..., NeovimTerminal]


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[OpenTerminal]:
    """Open a file in a Neovim of its own; no error may be in its messages at the end."""
    with ExitStack() as stack:
        opened: list[NeovimTerminal] = []

        def start(
            address: Address,
            text: str,
            *,
            name: str = "example.py",
            server: list[str] | tuple[str, ...] = SERVER,
            **settings: object,
        ) -> NeovimTerminal:
            # Of its own: the Neovim of the test before may listen in its folder a little longer.
            folder = Path(tempfile.mkdtemp(prefix="nvim", dir=address.directory))
            file = tmp_path / name
            file.write_bytes(text.encode())
            patient = {"deadlineMs": 60_000, "invokedDeadlineMs": 60_000, **settings}
            terminal = stack.enter_context(
                neovim_terminal(
                    folder, file, {"cmd": server, "settings": patient}, address.as_environment()
                )
            )
            terminal.nvim.until(ATTACHED)
            opened.append(terminal)
            return terminal

        yield start
        for terminal in opened:
            messages = terminal.nvim.messages()
            assert "Error" not in messages, messages


def test_ghost_text_stands_behind_the_cursor_in_its_own_colour_and_is_accepted(
    open_terminal: OpenTerminal, real_engine_runtime: Address
) -> None:
    terminal = open_terminal(real_engine_runtime, SUM)
    terminal.keys("GA ")
    terminal.suggests("left + right")
    terminal.shows("    return left + right")
    terminal.nvim.holds(SUM.replace("\n", "|").rstrip("|") + " ")
    terminal.keys("\x1bl")
    terminal.nvim.holds(SUM.replace("\n", "|").rstrip("|") + " left + right")
    terminal.until(lambda: "left + right" not in terminal.suggested())


def test_words_are_accepted_one_by_one(
    open_terminal: OpenTerminal, real_engine_runtime: Address
) -> None:
    terminal = open_terminal(real_engine_runtime, SUM)
    terminal.keys("GA ")
    terminal.suggests("left + right")
    terminal.keys("\x1bw")
    terminal.suggests(" + right")
    terminal.keys("\x1bw\x1bw")
    terminal.nvim.until("vim.api.nvim_get_current_line() == '    return left + right'")


def test_a_block_stands_below_the_line_and_is_accepted_line_by_line(
    open_terminal: OpenTerminal, real_engine_runtime: Address
) -> None:
    terminal = open_terminal(real_engine_runtime, LOOP)
    terminal.keys("GA")
    first, *rest = terminal.ghost_text().split("\n")
    assert rest
    terminal.keys("\x1bj")
    terminal.nvim.until(f"vim.api.nvim_get_current_line() == [[{first}]]")
    terminal.until(lambda: terminal.suggested().split("\n")[0] == rest[0])
    terminal.keys("\x1bj")
    terminal.nvim.until(f"vim.api.nvim_get_current_line() == [[{rest[0]}]]")


def test_what_is_sure_is_accepted_up_to_the_first_unsure_token(
    open_terminal: OpenTerminal, real_engine_runtime: Address
) -> None:
    text = SEARCH.rstrip("\n") + "\n    for i, item\n"
    terminal = open_terminal(real_engine_runtime, text, sureConfidence=0.98)
    terminal.keys("GA")
    terminal.ghost_text()
    rest, sure = terminal.nvim.lua("{ require('intarsia.ghost_text').shown(1) }")
    assert rest.startswith(sure) and sure != rest
    assert terminal.in_colour_of("IntarsiaUnsure")
    terminal.keys("\x1bs")
    terminal.nvim.holds((text.rstrip("\n") + sure).replace("\n", "|"))


def test_next_goes_round_and_counts(
    open_terminal: OpenTerminal, real_engine_runtime: Address
) -> None:
    terminal = open_terminal(real_engine_runtime, SUM)
    terminal.keys("GA ")
    first = terminal.ghost_text()
    terminal.keys("\x1bn")
    terminal.shows("(2/")
    second = terminal.ghost_text()
    assert second != first
    terminal.keys("\x1bp")
    terminal.shows("(1/")
    terminal.suggests(first)


def test_a_draft_is_seen_settling(
    open_terminal: OpenTerminal, real_engine_runtime: Address
) -> None:
    # A text of its own: what the engine has written before comes without a draft.
    terminal = open_terminal(real_engine_runtime, WORDS)
    terminal.nvim.change_settings(showThreshold=0)  # else a draft waits until it is probable
    terminal.keys("GA")
    terminal.ghost_text()
    assert terminal.has_shown("··")
    assert not any("··" in line for line in terminal.lines())


def test_typing_along_keeps_it_and_does_not_ask_the_engine_again(
    open_terminal: OpenTerminal, real_engine_runtime: Address
) -> None:
    terminal = open_terminal(real_engine_runtime, LOOP)
    terminal.keys("GA")
    shown = terminal.nvim.until("require('intarsia.ghost_text').shown(1)")
    num_fills = engine_status(real_engine_runtime).num_fills
    first = shown.split("\n")[0]
    for number, character in enumerate(first, start=1):
        terminal.keys(character)
        is_kept = f"require('intarsia.ghost_text').shown(1) == [[\n{shown[number:]}]]"
        terminal.until(lambda is_kept=is_kept: bool(terminal.nvim.lua(is_kept)))
    assert engine_status(real_engine_runtime).num_fills == num_fills
    terminal.nvim.holds((LOOP.rstrip("\n") + "\n" + first).replace("\n", "|"))


def test_two_editors_share_one_engine(
    open_terminal: OpenTerminal, real_engine_runtime: Address
) -> None:
    before = engine_status(real_engine_runtime)
    terminals = [
        open_terminal(real_engine_runtime, SUM, name=name) for name in ("one.py", "two.py")
    ]
    for terminal in terminals:
        terminal.keys("GA ")
        terminal.suggests("left + right")
    after = engine_status(real_engine_runtime)
    assert after.pid == before.pid
    assert after.num_clients >= 3  # both, and this question


def test_a_killed_engine_comes_back_by_itself(
    open_terminal: OpenTerminal, runtime: Address
) -> None:
    server = rule_server_command(rules=[("return", "left"), ("other =", "right")], text="")
    terminal = open_terminal(runtime, SUM, server=server)
    terminal.keys("GA ")
    terminal.suggests("left")
    killed = psutil.Process(engine_status(runtime).pid)
    killed.kill()  # a request that a dying engine takes in is lost with it: wait
    terminal.until(lambda: not killed.is_running() or killed.status() == psutil.STATUS_ZOMBIE)
    terminal.keys("\x1boother = ")
    terminal.suggests("right")
    assert engine_status(runtime).pid != killed.pid


def test_a_file_of_secrets_gets_nothing_and_why_tells_the_reason(
    open_terminal: OpenTerminal, real_engine_runtime: Address
) -> None:
    num_fills = engine_status(real_engine_runtime).num_fills
    terminal = open_terminal(real_engine_runtime, "KEY=\n", name=".env.sh")
    terminal.keys("A1")
    terminal.nvim.until("vim.tbl_get(require('intarsia').info() or {}, 'last', 'reason')")
    terminal.keys("\x1b:Intarsia why\r")
    terminal.shows(".env*")
    assert terminal.nvim.lua(GHOST_TEXT) is None
    assert engine_status(real_engine_runtime).num_fills == num_fills


def test_dos_line_ends_are_kept_in_the_file(
    open_terminal: OpenTerminal, real_engine_runtime: Address, tmp_path: Path
) -> None:
    terminal = open_terminal(real_engine_runtime, SUM.replace("\n", "\r\n"))
    terminal.keys("GA ")
    terminal.suggests("left + right")
    terminal.keys("\x1bl\x1b:w\r")
    terminal.nvim.until("not vim.bo.modified")
    saved = (tmp_path / "example.py").read_bytes()
    assert saved == (SUM.rstrip("\n") + " left + right\n").replace("\n", "\r\n").encode()


def test_emoji_before_the_cursor_do_not_shift_it(
    open_terminal: OpenTerminal, real_engine_runtime: Address
) -> None:
    text = SUM.replace("return\n", "print('🎉 Grüße 𝄞'); return\n")
    terminal = open_terminal(real_engine_runtime, text)
    terminal.keys("GA ")
    assert terminal.ghost_text().startswith("left + right")
    terminal.keys("\x1bl")
    terminal.nvim.until(
        "vim.endswith(vim.api.nvim_get_current_line(), [[𝄞'); return left + right]])"
    )


def test_a_code_action_fills_an_empty_body_and_one_undo_takes_it_back(
    open_terminal: OpenTerminal, real_engine_runtime: Address
) -> None:
    text = SUM.replace("return\n", "...\n\n\nprint(add(1, 2))\n")
    terminal = open_terminal(real_engine_runtime, text)
    terminal.keys("3G:lua vim.lsp.buf.code_action()\r")
    terminal.shows("Code actions")
    choice = next(line for line in terminal.lines() if "Fill this hole" in line)
    terminal.keys(f"{choice.strip()[0]}\r")
    terminal.shows("    return left + right")
    terminal.shows("print(add(1, 2))")
    terminal.keys("\x1b\x1bu")
    terminal.nvim.holds(text.rstrip("\n").replace("\n", "|"))


def test_a_selection_is_filled_and_nothing_around_it_is_touched(
    open_terminal: OpenTerminal, runtime: Address
) -> None:
    server = rule_server_command(text="größe")
    text = SUM.replace("return\n", "return größer  # 🎉 ß\n")
    terminal = open_terminal(runtime, text, server=server)
    terminal.keys("3G^wve:Intarsia fill\r")
    terminal.shows("    return größe  # 🎉")
    terminal.nvim.holds(text.replace("größer", "größe").rstrip("\n").replace("\n", "|"))


def test_an_edit_that_runs_is_marked_and_ctrl_c_ends_it(
    open_terminal: OpenTerminal, runtime: Address
) -> None:
    server = rule_server_command(text="+ 1 " * 100, step_seconds=0.2)
    terminal = open_terminal(runtime, "x = something\n", server=server)
    terminal.keys("wwve:Intarsia fill\r")
    terminal.shows("filling")
    terminal.keys("\x03")
    terminal.shows("cancelled, nothing was replaced")
    terminal.until(lambda: not any("filling" in line for line in terminal.lines()))
    terminal.nvim.holds("x = something")


def test_a_buffer_without_a_name_gets_suggestions_before_and_after_it_is_saved(
    open_terminal: OpenTerminal, real_engine_runtime: Address, tmp_path: Path
) -> None:
    terminal = open_terminal(real_engine_runtime, "", name="empty.py")
    terminal.keys(":enew | set filetype=python noautoindent indentexpr=\r")
    terminal.nvim.until(ATTACHED)
    terminal.keys("i" + SUM.rstrip("\n").replace("\n", "\r"))
    time.sleep(SENT_AFTER_S)
    terminal.keys(" ")  # on its own: so much text at once counts as pasted
    terminal.suggests("left + right")
    terminal.keys("\x1bl")
    terminal.keys(f"\x1b:write {tmp_path / 'saved.py'}\r")
    terminal.nvim.until("not vim.bo.modified")
    terminal.keys("o\r\rdef sub(left, right):\r    return")
    time.sleep(SENT_AFTER_S)
    terminal.keys(" ")
    terminal.suggests("left - right")
