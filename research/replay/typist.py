"""An editor with a user who writes a known text: auto-closed marks, typing over, indentation.

Knows no server. A document is ``before`` + ``auto`` + ``after``: the cursor is after ``before``,
and ``auto`` is what the editor has closed and the user has not typed yet.
"""

from dataclasses import dataclass

_CLOSERS = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'", "`": "`"}
_QUOTES = "\"'`"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """``text`` replaces ``document[start:end]``; the cursor is then at ``cursor``."""

    start: int
    end: int
    text: str
    cursor: int


@dataclass(kw_only=True, slots=True)
class Typist:
    """What stands in the editor, and what the user still wants to write before ``after``."""

    before: str
    goal: str
    after: str
    auto: str = ""

    @property
    def document(self) -> str:
        return self.before + self.auto + self.after

    def press(self) -> Change:
        """Press the next key; Enter brings the indentation of the next line with it."""
        key = self.goal[:1]
        if key == "\n":
            return self._enter()
        if self.auto.startswith(key):
            self.auto = self.auto[1:]
            return self._write(key, removed=1)
        return self._write(key, auto=self._closer(key))

    def accept(self, text: str, removed: int = 0) -> Change:
        """Accept a suggestion that replaces ``removed`` characters after the cursor."""
        num_auto = min(removed, len(self.auto))
        self.auto = self.auto[num_auto:]
        self.after = self.after[removed - num_auto :]
        return self._write(text, removed=removed)

    def is_right(self, text: str, removed: int = 0) -> bool:
        """Whether a suggestion is what the user wants to write next, with what stands behind it."""
        left = self.auto[removed:].strip()
        rest = self.goal[len(text) :]
        return (
            bool(text.strip())
            and self.goal.startswith(text)
            and removed <= len(self.auto)
            and _closes_with(rest, left)
        )

    def _enter(self) -> Change:
        blank = self.goal[1 : len(self.goal) - len(self.goal[1:].lstrip(" \t"))]
        line = "\n" + blank
        if self.auto.startswith("\n") and self.goal.lstrip().startswith(self.auto.strip()):
            removed, self.auto = len(self.auto), self.auto.strip()  # the cursor moves down
            change = self._write(line, removed=removed, put_back=self.auto)
        elif self.auto and _CLOSERS.get(self.before[-1:]) == self.auto[0] and self.auto[0] in ")]}":
            own_line = self.before[self.before.rfind("\n") + 1 :]
            indent = own_line[: len(own_line) - len(own_line.lstrip(" \t"))]
            self.auto = f"\n{indent}{self.auto}"
            change = self._write(line, put_back=f"\n{indent}")
        elif self.auto and not self.auto.startswith("\n"):
            change = self._change("", removed=len(self.auto))
            self.auto = ""
        else:
            change = self._write(line)
        return change

    def _closer(self, key: str) -> str:
        """Return what the editor closes at once, before a blank or a closing mark."""
        following = (self.auto + self.after)[:1]
        is_free = following.isspace() or following in ("", *")]}>,;", *_QUOTES)
        if key not in _CLOSERS or not is_free:
            return ""
        previous = self.before[-1:]
        if key in _QUOTES and (previous.isalnum() or previous == key):
            return ""
        return _CLOSERS[key]

    def _write(self, text: str, *, removed: int = 0, auto: str = "", put_back: str = "") -> Change:
        """Write a text that the goal goes on with; ``auto`` and ``put_back`` come behind it."""
        change = self._change(text + auto + put_back, removed=removed, length=len(text))
        self.before += text
        self.goal = self.goal[len(text) :]
        self.auto = auto + self.auto
        return change

    def _change(self, text: str, *, removed: int, length: int = 0) -> Change:
        at = len(self.before)
        return Change(start=at, end=at + removed, text=text, cursor=at + length)


def _closes_with(rest: str, closers: str) -> bool:
    """Whether a text closes these marks, in this order, and opens as many as it closes before."""
    opened: list[str] = []
    left = list(closers)
    for char in rest:
        if not left:
            break
        if opened and char == opened[-1]:
            opened.pop()
        elif char == left[0]:
            left.pop(0)
        elif char in _CLOSERS and char not in "'":
            opened.append(_CLOSERS[char])
    return not left


def num_keys(before: str, goal: str, after: str) -> int:
    """Return how many keys a text takes without suggestions."""
    typist, count = Typist(before=before, goal=goal, after=after), 0
    while typist.goal:
        typist.press()
        count += 1
    return count
