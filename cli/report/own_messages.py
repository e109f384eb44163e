"""Keeps of a line only what our own messages say, and numbers.

Our sources contain every message, with gaps for what it tells of. A line is written again from the
message that it follows: a gap shows a number, another of our messages, or an ellipsis. So nothing
of the user's is left, wherever the line came from.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import intarsia.cli.doctor
import intarsia.engine

LEFT_OUT = "…"
MAX_CHARS = 1_000
MAX_DEPTH = 3
MIN_LETTERS = 4
"""Of a message with gaps: anything at all would follow a shorter one."""

_NUMBER = re.compile(r"[-+]?\d{1,9}(?:[.,]\d{1,9})*(?:\+cpu)?(?: ?(?:%|ms|s|min|h|[kMG]?B))?")
_GAP = re.compile(r"%(?:\(\w+\))?[-+ 0#]*[\d.]*[a-zA-Z]|\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class _Message:
    """The texts of a message around its gaps: one more than there are gaps."""

    texts: tuple[str, ...]

    @property
    def num_said(self) -> int:
        return sum(map(len, self.texts))

    def gaps_in(self, line: str) -> Sequence[str] | None:
        """Return what is in the gaps, if the line follows this message."""
        first, *between, last = self.texts if len(self.texts) > 1 else (*self.texts, "")
        if len(self.texts) == 1:
            return () if line == first else None
        if not (line.startswith(first) and line.endswith(last)):
            return None
        gaps, at, end = [], len(first), len(line) - len(last)
        for text in between:
            found = line.find(text, at, end)
            if found < 0:
                return None
            gaps.append(line[at:found])
            at = found + len(text)
        return [*gaps, line[at:end]] if at <= end else None


def only_own_text(line: str, depth: int = 0) -> str:
    """Return a line as the longest of our messages that it follows, else an ellipsis."""
    line = " ".join(line.split())[:MAX_CHARS]
    if not line or _NUMBER.fullmatch(line):
        return line
    for message in _messages() if depth < MAX_DEPTH else ():
        gaps = message.gaps_in(line)
        if gaps is not None:
            told = [only_own_text(gap, depth + 1) for gap in gaps]
            return _joined(message.texts, told)
    return LEFT_OUT


def _joined(texts: Sequence[str], told: Sequence[str]) -> str:
    return texts[0] + "".join(gap + text for gap, text in zip(told, texts[1:], strict=True))


@cache
def _messages() -> tuple[_Message, ...]:
    """Return the messages of the engine and the doctor, those that say most first."""
    packages = (intarsia.engine.__path__, intarsia.cli.doctor.__path__)
    paths = [path for folders in packages for it in folders for path in Path(it).rglob("*.py")]
    found = {message for path in paths for message in _messages_of(path)}
    return tuple(sorted(found, key=lambda it: (-it.num_said, it.texts)))


def _messages_of(path: Path) -> Iterator[_Message]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(it.value) for it in ast.walk(tree) if isinstance(it, ast.Expr)}
    parts = {
        id(part) for it in ast.walk(tree) if isinstance(it, ast.JoinedStr) for part in it.values
    }
    for node in ast.walk(tree):
        if id(node) in documentation or id(node) in parts:
            continue
        texts: tuple[str, ...] = ()
        if isinstance(node, ast.JoinedStr):
            texts = _texts_of(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts = tuple(_in_one_line(text) for text in _GAP.split(node.value))
        num_letters = sum(character.isalpha() for text in texts for character in text)
        if num_letters >= (MIN_LETTERS if len(texts) > 1 else 1):
            yield _Message(texts)


def _texts_of(node: ast.JoinedStr) -> tuple[str, ...]:
    """Return the texts of an f-string around its gaps."""
    texts = [""]
    for part in node.values:
        if isinstance(part, ast.Constant):
            texts[-1] += _in_one_line(str(part.value))
        else:
            texts.append("")
    return tuple(texts)


def _in_one_line(text: str) -> str:
    """Return a text with one space for each run of white space, also at its ends."""
    return re.sub(r"\s+", " ", text)
