"""A terminal editor on a pseudo-terminal: keys go in, a screen comes out."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import pyte

_ROWS, _COLUMNS = 30, 100
_ESCAPE_S = 0.5


class _Screen(pyte.Screen):
    """pyte's, which knows no private queries (an editor asks some; a terminal may stay silent)."""

    def report_device_status(self, mode: int, private: bool = False) -> None:
        if not private:
            super().report_device_status(mode)


class Terminal:
    """The side of a terminal on which a user sits."""

    def __init__(self, terminal: int, screen: pyte.Screen) -> None:
        self._terminal = terminal
        self._screen = screen
        self._stream = pyte.ByteStream(screen)

    def keys(self, keys: str) -> None:
        """Type: ``\\x1b`` is Escape, ``\\x1bl`` is Alt and l."""
        os.write(self._terminal, keys.encode())

    def lines(self) -> list[str]:
        self._read(0)
        return [line.rstrip() for line in self._screen.display]

    def screen(self) -> str:
        return "\n".join(self.lines())

    def until(self, holds: Callable[[], bool], seconds: float = 60) -> None:
        ends_at = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < ends_at, f"never came true:\n{self.screen()}"
            self._read(0.02)

    def shows(self, text: str) -> None:
        self.until(lambda: any(text in line for line in self.lines()))

    def _read(self, seconds: float) -> None:
        while select.select([self._terminal], [], [], seconds)[0]:
            try:
                drawn = os.read(self._terminal, 65536)
            except OSError:  # the editor has ended
                return
            self._feed(drawn)
            seconds = 0

    def _feed(self, drawn: bytes) -> None:
        self._stream.feed(drawn)


class TerminalEditor(Terminal):
    def __init__(self, process: "subprocess.Popen[bytes]", terminal: int) -> None:
        screen = _Screen(_COLUMNS, _ROWS)
        super().__init__(terminal, screen)
        self._process = process
        # What the editor asks its terminal is answered as a terminal would.
        screen.write_process_input = lambda answer: os.write(terminal, answer.encode())

    def until(self, holds: Callable[[], bool], seconds: float = 20) -> None:
        def holds_or_has_ended() -> bool:
            is_so = holds()
            assert is_so or self._process.poll() is None, f"it has ended:\n{self.screen()}"
            return is_so

        super().until(holds_or_has_ended, seconds)

    def escape(self) -> None:
        """Press Escape and nothing more: with a key right after it, it would be Alt and that."""
        self.keys("\x1b")
        ends_at = time.monotonic() + _ESCAPE_S
        while time.monotonic() < ends_at:
            self._read(0.05)

    def shows_soon(self, text: str, seconds: float) -> bool:
        ends_at = time.monotonic() + seconds
        while text not in self.screen():
            if time.monotonic() > ends_at:
                return False
            self._read(0.05)
        return True


@contextmanager
def terminal_editor(
    command: Sequence[str], environment: Mapping[str, str]
) -> Iterator[TerminalEditor]:
    """Run an editor on a terminal of its own; it is killed at the end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["setsid", "--ctty", *command],  # some editors open /dev/tty
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    try:
        yield TerminalEditor(process, ours)
    finally:
        process.kill()
        process.wait(20)
        os.close(ours)
