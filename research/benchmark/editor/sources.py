"""Cut lines out of files of the standard library, as holes for the benchmark.

The choice is seeded: the same Python gives the same holes. Each file is used once, so that no
hole finds its context in the KV cache.
"""

import random
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

_SEED = 7
_FEWEST_LINES = 300
_FEWEST_CHARACTERS = 12

CHARS_PER_TOKEN = 4.0
"""About, for the standard library and the default model."""

SUFFIX_SHARE = 0.2
"""The share of a text that follows the hole, as in an editor's request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CutLine:
    """``text[start:end]`` is a whole line without its indentation."""

    file: str
    text: str
    start: int
    end: int


def cut_lines(count: int) -> list[CutLine]:
    """Return ``count`` holes, one per file."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(folder.glob("[a-z]*.py"))
    chosen = random.Random(_SEED)
    chosen.shuffle(files)
    return list(islice(_cut_each(files, chosen), count))


def cut_line_of_file(num_tokens: int) -> CutLine:
    """Return a line four fifths down a text of about ``num_tokens`` tokens, with a unique start.

    The text is the longest files of the standard library, one after the other, each from its first
    class on: above that there is more prose than code.
    """
    num_chars, parts = int(num_tokens * CHARS_PER_TOKEN), [f"# {num_tokens:,} tokens\n"]
    folder = Path(sysconfig.get_path("stdlib"))
    for file in sorted(folder.glob("[a-z]*.py"), key=lambda it: it.stat().st_size, reverse=True):
        if sum(map(len, parts)) >= num_chars:
            break
        text = file.read_text(encoding="utf-8", errors="replace")
        parts.append(text[text.find("\nclass ") + 1 :])
    lines = "".join(parts)[:num_chars].splitlines(keepends=True)
    after = len(lines) - 1 - int(len(lines) * SUFFIX_SHARE)
    worthy = [it for it in range(len(lines) - 1) if _is_worthy(lines[it]) and "(" in lines[it]]
    number = min(worthy, key=lambda it: abs(it - after))
    return _cut(f"{num_tokens}.py", "".join(lines), lines, number)


def _cut_each(files: list[Path], chosen: random.Random) -> Iterator[CutLine]:
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines(keepends=True)
        worthy = [
            number for number in range(len(lines) // 3, len(lines)) if _is_worthy(lines[number])
        ]
        if len(lines) >= _FEWEST_LINES and worthy:
            yield _cut(file.name, text, lines, chosen.choice(worthy))


def _is_worthy(line: str) -> bool:
    """Return whether a line is telling code: not blank, no comment, no lone bracket."""
    code = line.strip()
    return len(code) >= _FEWEST_CHARACTERS and code[0].isalpha()


def _cut(name: str, text: str, lines: list[str], number: int) -> CutLine:
    line = lines[number]
    offset = sum(map(len, lines[:number]))
    start = offset + len(line) - len(line.lstrip())
    return CutLine(file=name, text=text, start=start, end=offset + len(line.rstrip()))
