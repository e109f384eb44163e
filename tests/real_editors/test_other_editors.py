"""Editors without a plugin of ours, set up by the recipes of docs/editors.md."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from checkout import SUPPORT
from editor_recipes import (
    CASES,
    FETCHED,
    SELECTED,
    Case,
    case_file,
    program,
    recipe,
    stands_filled,
    surroundings,
)
from rule_server import rule_server_command
from terminal_editor import TerminalEditor, terminal_editor

from intarsia.engine.ipc.address import Address

EMACS_DRIVER = SUPPORT / "editors" / "complete_in_emacs.el"
LSP_MODE_10 = FETCHED / "lsp-mode"

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform == "win32", reason="drives editors on a pseudo-terminal"),
]
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@contextmanager
def helix(file: Path, environment: Mapping[str, str]) -> Iterator[TerminalEditor]:
    folder = Path(environment["XDG_CONFIG_HOME"]) / "helix"
    folder.mkdir(parents=True)
    (folder / "languages.toml").write_text(recipe("Helix", "toml"))
    with terminal_editor([program("hx", "helix"), str(file)], environment) as editor:
        editor.shows("def ")
        yield editor


def ask_in_helix(editor: TerminalEditor, line: int, expected: str) -> None:
    """Ask at the line's end until this is in the menu: no message tells when it is ready."""
    editor.keys(f"{line}G")
    for attempt in range(8):
        editor.keys("A")
        editor.shows(" INS ")
        editor.keys("\x18")
        if editor.shows_soon(expected, seconds=8 + 4 * attempt):
            return
        editor.keys("\x1b")
        editor.shows(" NOR ")
    raise AssertionError(f"never in the menu: {expected}\n{editor.screen()}")


def complete_in_helix(case: Case, file: Path, environment: Mapping[str, str]) -> None:
    line = case.before.count("\n") + 1
    first_line, *more = case.fill.splitlines()
    label = re.findall(r"\w*$", case.before)[0] + first_line + ("…" if more else "")
    with helix(file, environment) as editor:
        ask_in_helix(editor, line, f"{label} text")  # the menu says each item's kind
        editor.keys("\t\r")
        editor.until(lambda: first_line in editor.screen() and " text" not in editor.screen())
        editor.keys("\x1b")
        editor.shows("NOR")
        editor.keys(":w\r")
        editor.until(lambda: stands_filled(case, file))


@each_case
def test_helix_takes_a_suggestion_from_its_menu(case, runtime, tmp_path):
    server = rule_server_command(text=case.fill)
    complete_in_helix(case, case_file(case, tmp_path), surroundings(runtime, tmp_path, server))


@pytest.mark.model
def test_helix_with_the_real_model(real_engine_runtime: Address, tmp_path: Path) -> None:
    case = CASES["a rest of a line"]
    environment = surroundings(real_engine_runtime, tmp_path)
    complete_in_helix(case, case_file(case, tmp_path), environment)


def test_helix_keeps_its_menu_while_the_suggestion_is_typed(runtime, tmp_path):
    case = CASES["a half-typed word"]
    server = rule_server_command(text=case.fill)
    environment = surroundings(runtime, tmp_path, server)
    with helix(case_file(case, tmp_path), environment) as editor:
        ask_in_helix(editor, 3, "left + right text")
        editor.keys("f")
        editor.until(lambda: "return lef" in editor.screen())
        editor.shows("left + right text")


def test_helix_fills_the_selection_by_a_code_action(runtime: Address, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(SELECTED.before + "0000" + SELECTED.after)
    server = rule_server_command(text=SELECTED.fill)
    with helix(file, surroundings(runtime, tmp_path, server)) as editor:
        editor.keys("/0000\r")
        for attempt in range(8):
            editor.keys(" a")
            if editor.shows_soon("Fill the selection", seconds=8 + 4 * attempt):
                break
            editor.escape()
        editor.keys("\r")  # the first is selected
        editor.shows("return left + right")
        editor.keys(":w\r")
        editor.until(lambda: stands_filled(SELECTED, file))


EMACS_CLIENTS = ("eglot", "lsp-mode", "lsp-mode 10", "lsp-mode 10, ghost text")
each_client = pytest.mark.parametrize("client", EMACS_CLIENTS)


def complete_in_emacs(client, case, file, environment, selected="") -> None:
    """Run the guide's recipe and the driver in Emacs without a screen.

    ``selected``: the text in the hole, to be replaced by a code action.
    """
    emacs = program("emacs")
    name = client.split(maxsplit=1)[0].rstrip(",")
    load_path = ["-f", "package-initialize"]
    if client != name:
        if not LSP_MODE_10.exists():
            pytest.skip("no lsp-mode 10 (make test-editors fetches it)")
        load_path += ["-L", str(LSP_MODE_10), "-l", "lsp-mode-autoloads"]
    home = Path(environment["HOME"])
    recipe_file = home / "recipe.el"
    recipe_file.write_text(recipe(f"Emacs with {name}", "elisp"))
    done = subprocess.run(
        [emacs, "--batch", *load_path, "-l", name, "-l", recipe_file, "-l", EMACS_DRIVER],
        env={
            **os.environ,
            **environment,
            "FILE": str(file),
            "AFTER": case.before.splitlines()[-1],
            "SELECTED": selected,
            "CLIENT": "ghost text" if "ghost" in client else name,
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "Cannot open load file" in done.stderr and name in done.stderr:
        pytest.skip(f"{name} is not installed: on Debian, apt-get install elpa-{name}")
    assert done.returncode == 0, done.stderr
    assert stands_filled(case, file), done.stderr + file.read_text()


@each_client
@each_case
def test_emacs_takes_a_suggestion(client, case, runtime, tmp_path):
    if client == "lsp-mode" and not case.before.isascii():
        pytest.skip("lsp-mode 8 counts a character outside the BMP as one UTF-16 unit")
    server = rule_server_command(text=case.fill)
    environment = surroundings(runtime, tmp_path, server)
    complete_in_emacs(client, case, case_file(case, tmp_path), environment)


def test_eglot_fills_the_selection_by_a_code_action(runtime: Address, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(SELECTED.before + "0000" + SELECTED.after)
    environment = surroundings(runtime, tmp_path, rule_server_command(text=SELECTED.fill))
    complete_in_emacs("eglot", SELECTED, file, environment, selected="0000")


@pytest.mark.model
@each_client
def test_emacs_with_the_real_model(client, real_engine_runtime, tmp_path):
    case = CASES["a rest of a line"]
    environment = surroundings(real_engine_runtime, tmp_path)
    complete_in_emacs(client, case, case_file(case, tmp_path), environment)


@pytest.mark.model
def test_kakoune_fills_the_hole_by_one_key(real_engine_runtime: Address, tmp_path: Path) -> None:
    case = CASES["a rest of a line"]
    file = case_file(case, tmp_path)
    environment = surroundings(real_engine_runtime, tmp_path)
    folder = Path(environment["XDG_CONFIG_HOME"]) / "kak"
    folder.mkdir(parents=True)
    (folder / "kakrc").write_text(recipe("Kakoune", "kak"))
    with terminal_editor([program("kak"), str(file)], environment) as editor:
        editor.shows("def add")
        editor.keys("3g")
        editor.shows(" 3:1 ")
        editor.keys("A")
        editor.shows(" insert ")
        editor.keys("\x1bl")
        editor.until(lambda: stands_filled(case, file))
        editor.shows("return left + right")
        editor.shows(f" 3:{len('    return left + right') + 1} ")
