"""A real Kate on an X server without a screen, set up by the recipe of docs/editors.md.

Debian: kate, xvfb, xdotool, dbus.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from editor_recipes import CASES, Case, case_file, program, recipe, stands_filled, surroundings
from rule_server import rule_server_command

from intarsia.engine.ipc.address import Address

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform == "win32", reason="needs an X server"),
]
PROGRAMS = ("kate", "Xvfb", "xdotool", "dbus-run-session")


@dataclass(frozen=True, kw_only=True, slots=True)
class Kate:
    """A running editor with one file open."""

    environment: Mapping[str, str]
    window: str

    def keys(self, *keys: str) -> None:
        """Press keys, in xdotool's names."""
        _xdotool(self.environment, "key", "--delay", "60", *keys)

    def num_windows(self) -> int:
        """Return how many windows are shown; a completion menu is one of its own."""
        return len(_windows(self.environment))


@contextmanager
def kate_window(file, environment, *, server_settings, allowed) -> Iterator[Kate]:
    """Run Kate on a file with this user server setting; ``allowed``: the command it may start."""
    configuration = Path(environment["XDG_CONFIG_HOME"])
    (configuration / "kate" / "lspclient").mkdir(parents=True)
    (configuration / "kate" / "lspclient" / "settings.json").write_text(server_settings)
    (configuration / "katerc").write_text(
        "[Kate Plugins]\nlspclientplugin=true\n"
        "[General]\nShow welcome view for new window=false\n"
        f"[lspclient]\nAllowedServerCommandLines={allowed}\n"
    )
    with ExitStack() as running:
        display = running.enter_context(_x_server())
        surroundings = {
            **os.environ,
            **environment,
            "DISPLAY": display,
            "XDG_RUNTIME_DIR": str(configuration),
            "QT_QPA_PLATFORM": "xcb",
        }
        configuration.chmod(0o700)
        running.enter_context(
            _process(["dbus-run-session", "--", "kate", "-n", str(file)], surroundings)
        )
        wait_until(lambda: bool(_windows(surroundings, file.name)), "Kate's window")
        kate = Kate(environment=surroundings, window=_windows(surroundings, file.name)[0])
        _xdotool(surroundings, "windowfocus", "--sync", kate.window)
        yield kate


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 60) -> None:
    ends_at = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends_at, f"never came: {what}"
        time.sleep(0.1)


def shown_within(seconds: float, holds: Callable[[], bool]) -> bool:
    ends_at = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > ends_at:
            return False
        time.sleep(0.1)
    return True


@contextmanager
def _x_server() -> Iterator[str]:
    read_end, write_end = os.pipe()
    # An X server resets when its last client leaves: xdotool, while Kate is about to connect.
    command = ["Xvfb", "-noreset", "-displayfd", str(write_end), "-screen", "0", "1200x800x24"]
    with _process(command, dict(os.environ), pass_fds=(write_end,)):
        os.close(write_end)
        with os.fdopen(read_end) as numbers:
            yield f":{int(numbers.readline())}"


@contextmanager
def _process(command, environment, pass_fds=()) -> Iterator[None]:
    process = subprocess.Popen(
        command,
        env=environment,
        pass_fds=pass_fds,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


def _windows(environment: Mapping[str, str], name: str = "") -> list[str]:
    wanted = ["--name", name] if name else ["--class", "kate"]
    return _xdotool(environment, "search", "--onlyvisible", *wanted).split()


def _xdotool(environment: Mapping[str, str], *words: str) -> str:
    done = subprocess.run(
        ["xdotool", *words], env=environment, capture_output=True, text=True, timeout=30
    )
    return done.stdout


def complete_in_kate(case: Case, file: Path, environment: Mapping[str, str]) -> None:
    for needed in PROGRAMS:
        program(needed)
    allowed = f"{Path(environment['HOME']) / 'bin' / 'intarsia'} serve"
    settings = recipe("Kate", "json")
    with kate_window(file, environment, server_settings=settings, allowed=allowed) as kate:
        without_menu = kate.num_windows()
        downwards = ["Down"] * case.before.count("\n")
        kate.keys("ctrl+Home", *downwards, "End")

        def menu_with_documentation_is_shown() -> bool:
            kate.keys("Escape", "ctrl+space")  # no message tells when the server is ready
            return shown_within(3, lambda: kate.num_windows() > without_menu + 1)

        wait_until(menu_with_documentation_is_shown, "the menu")
        kate.keys("Return", "ctrl+s")
        wait_until(lambda: stands_filled(case, file), "the filled file")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_kate_takes_a_suggestion_from_its_menu(case, runtime, tmp_path):
    server = rule_server_command(text=case.fill)
    complete_in_kate(case, case_file(case, tmp_path), surroundings(runtime, tmp_path, server))


@pytest.mark.model
def test_kate_with_the_real_model(real_engine_runtime: Address, tmp_path: Path) -> None:
    case = CASES["a rest of a line"]
    environment = surroundings(real_engine_runtime, tmp_path)
    complete_in_kate(case, case_file(case, tmp_path), environment)
