"""Types into Neovim like a hasty user, and keeps a model of what the text must be."""

import random
import time

from neovim_terminal import NeovimTerminal

CODE = """import json

def mean(values):
    '''Return the mean of the values.'''
    return sum(values) / len(values)

class Größe:
    name = "Grüße 🎉"

    def double(self, count=2):
        for number in range(count):
            if number % 2:
                print(self.name, number)
        return [count for count in range(3)]
"""
# What was taken over, told by the plugin as it puts it in; and no indentation but what is typed.
WATCH = """
  _G.accepted, _G.presses = {}, 0
  local paste = vim.api.nvim_paste
  function vim.api.nvim_paste(text, ...)
    table.insert(_G.accepted, text)
    return paste(text, ...)
  end
  local intarsia = require("intarsia")
  for _, name in ipairs({ "accept", "accept_word", "accept_line" }) do
    local accept = intarsia[name]
    intarsia[name] = function()
      local is_taken = accept()
      _G.presses, _G.is_taken = _G.presses + 1, is_taken
      return is_taken
    end
  end
  vim.bo.autoindent, vim.bo.indentexpr, vim.bo.indentkeys = false, "", ""
  vim.bo.formatoptions, vim.bo.textwidth, vim.bo.softtabstop, vim.o.smarttab = "", 0, 0, false
  vim.cmd.startinsert()
"""
ACCEPT_KEYS = ("\x1bl", "\x1bw", "\x1bj")


class TypingRun:
    """Keys go to the terminal; the model is changed by the same keys, and compared now and then."""

    def __init__(self, terminal: NeovimTerminal, chance: random.Random) -> None:
        self._terminal = terminal
        self._chance = chance
        self._text = ""
        self._at = 0
        self._typed = 0  # of CODE
        self.num_keys = self.num_accepted = self.num_checks = 0
        self.wrong: list[dict[str, str]] = []
        terminal.nvim.run(WATCH)
        terminal.nvim.until("vim.api.nvim_get_mode().mode == 'i'")

    def some_keys(self) -> None:
        """Type a few keys, then do one of the other things that users do."""
        for _ in range(self._chance.randint(1, 12)):
            self._type(CODE[self._typed % len(CODE)])
            self._typed += 1
        match self._chance.randint(0, 9):
            case 0:
                self._delete()
            case 1:
                self._left()
            case 2:
                self._press("\x1bn")
            case 3:
                self._press("\x1be")
            case 4 | 5 | 6:
                self._accept(self._chance.choice(ACCEPT_KEYS))
            case 7:
                self.check()
            case _:
                self._pause(self._chance.uniform(0.1, 1.5))
        if len(self._text) > 3000:
            self._begin_anew()

    def check(self) -> None:
        """Compare; what differs is counted, and the model goes on from what is there."""
        self.num_checks += 1
        ends_at = time.monotonic() + 5
        while (found := self._found()) != (self._text, self._at):
            if time.monotonic() > ends_at:
                self.wrong.append({"found": _marked(*found), "not": _marked(self._text, self._at)})
                self._text, self._at = found
                return
            self._pause(0.02)

    def _found(self) -> tuple[str, int]:
        """Return Neovim's text and the cursor's place in it."""
        lines, (row, col) = self._terminal.nvim.lua(
            "{ vim.api.nvim_buf_get_lines(0, 0, -1, false), vim.api.nvim_win_get_cursor(0) }"
        )
        before = "".join(f"{line}\n" for line in lines[: row - 1])
        return "\n".join(lines), len(before + lines[row - 1].encode()[:col].decode())

    def _press(self, key: str) -> None:
        self._terminal.keys(key)
        self.num_keys += 1
        self._pause(self._chance.uniform(0.01, 0.12))

    def _pause(self, seconds: float) -> None:
        """Wait, and read what the editor draws."""
        ends_at = time.monotonic() + seconds
        while (left := ends_at - time.monotonic()) > 0:
            time.sleep(min(left, 0.02))
            self._terminal.drain()

    def _insert(self, text: str) -> None:
        self._text = self._text[: self._at] + text + self._text[self._at :]
        self._at += len(text)

    def _type(self, character: str) -> None:
        self._press("\r" if character == "\n" else character)
        self._insert(character)

    def _delete(self) -> None:
        if self._at > 0:
            self._press("\x7f")
            self._text = self._text[: self._at - 1] + self._text[self._at :]
            self._at -= 1

    def _left(self) -> None:
        if self._at > 0 and self._text[self._at - 1] != "\n":
            self._press("\x1b[D")
            self._at -= 1

    def _accept(self, key: str) -> None:
        """Press, perhaps once something is shown; of a draft, wait until the answer is in."""
        self.check()
        nvim = self._terminal.nvim
        patient_until = time.monotonic() + self._chance.uniform(0, 3)
        while time.monotonic() < patient_until and not nvim.lua("require('intarsia').is_shown()"):
            self._pause(0.05)
        presses, taken = nvim.lua("{ _G.presses, #_G.accepted }")
        self._press(key)
        nvim.until(f"_G.presses > {presses}")
        ends_at = time.monotonic() + 20
        while nvim.lua(f"_G.is_taken and #_G.accepted == {taken}"):
            if time.monotonic() > ends_at:
                return
            self._pause(0.02)
        for text in nvim.lua("_G.accepted")[taken:]:
            self._insert(text)
            self.num_accepted += 1

    def _begin_anew(self) -> None:
        self.check()
        self._terminal.nvim.run("vim.api.nvim_buf_set_lines(0, 0, -1, false, {})")
        self._text, self._at = "", 0
        self.check()


def _marked(text: str, at: int) -> str:
    return f"{text[:at]}║{text[at:]}"
