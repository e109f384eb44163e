"""Whole lines of code cut out of source files at random: holes that nobody prepared.

The choice is seeded: the same files give the same holes. Files take turns, a line each.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from intarsia.cli.faults import CliError
from intarsia.cli.source_file import SourceFile, read_source
from intarsia.infill.healing import given_start
from intarsia.infill.hole import Hole
from intarsia.infill.languages import PLAIN_TEXT, Language, language_for_path
from intarsia.infill.lines import line_end, next_line_start
from intarsia.infill.nodes import is_code
from intarsia.infill.syntax import parse

MAX_FILE_BYTES = 200_000

_FEWEST_CHARACTERS = 4
_SKIPPED_FOLDERS = {
    "__pycache__",
    "dist-packages",
    "idle_test",
    "node_modules",
    "site-packages",
    "test",
    "tests",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CutLine:
    """``text`` is a file without the line ``truth``, whose indentation still stands."""

    path: Path
    text: str
    hole: Hole
    truth: str
    language: Language


def find_sources(paths: Sequence[Path]) -> list[Path]:
    """Return the files that are named and the source files of a known language below folders."""
    found: dict[Path, None] = {}
    for path in paths:
        found |= dict.fromkeys(_below(path) if path.is_dir() else [path])
    return list(found)


def cut_lines(files: Sequence[Path], *, limit: int, seed: int) -> list[CutLine]:
    """Return so many holes. Raises CliError where no file has a line for one."""
    chosen = random.Random(seed)
    shuffled = list(files)
    chosen.shuffle(shuffled)
    lines = list(islice(_take_turns(shuffled, chosen), limit))
    if not lines:
        raise CliError("no line of code in these files: give source files of a known language")
    return lines


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parents = path.relative_to(folder).parts[:-1]
        if any(part in _SKIPPED_FOLDERS or part.startswith(".") for part in parents):
            continue
        if language_for_path(path.name) is not PLAIN_TEXT and _is_readable(path):
            yield path


def _is_readable(path: Path) -> bool:
    if not path.is_file() or path.stat().st_size >= MAX_FILE_BYTES:
        return False
    try:
        read_source(path)
    except CliError:  # in a folder one meets what is no text; a file that is named is told
        return False
    return True


def _take_turns(files: Sequence[Path], chosen: random.Random) -> Iterator[CutLine]:
    """Give a line of each file, then another of each, until no file has any left."""
    left: dict[Path, list[int]] = {}
    while True:
        has_given = False
        for path in files:
            source = read_source(path)
            language = language_for_path(path.name)
            starts = left.get(path)
            if starts is None:
                starts = left[path] = _lines_of_code(source, language)
                chosen.shuffle(starts)
            if starts:
                has_given = True
                yield _cut(path, source.text, starts.pop(), language)
        if not has_given:
            return


def _lines_of_code(source: SourceFile, language: Language) -> list[int]:
    """Return where lines begin, behind their indentation, that are neither prose nor trifles."""
    syntax = parse(source.text, language)
    starts, offset = [], 0
    while offset < len(source.text):
        line = source.text[offset : line_end(source.text, offset)]
        start = offset + len(line) - len(line.lstrip())
        if len(line.strip()) >= _FEWEST_CHARACTERS and is_code(syntax, start):
            starts.append(start)
        offset = next_line_start(source.text, offset)
    return starts


def _cut(path: Path, text: str, start: int, language: Language) -> CutLine:
    """Take the line out of the text, so that no part of the path to a fill can see it."""
    truth = text[start : line_end(text, start)].rstrip()
    rest = text[:start] + text[start + len(truth) :]
    hole = Hole(
        start=start, end=start, kind="line", given_start=given_start(rest, start), max_lines=1
    )
    return CutLine(path=path, text=rest, hole=hole, truth=truth, language=language)
