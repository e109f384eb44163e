"""Draws the holes of the built-in set, once: they are stored, so that no newer parser moves them.

Comes in: ``builtin_files`` with the file rows of its manifest; goes out: the same manifest with
holes. Run it with ``python -m intarsia.research.evaluation.sets.make_builtin [--seed N]``. The
folder's README has the rules for choosing files.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from intarsia.infill.languages import Language, language_for_id
from intarsia.infill.syntax.parse import parse_afresh
from intarsia.research.evaluation.sets.builtin import FOLDER
from intarsia.research.holes.code_map import CODE, COMMENT, STRING, map_code
from intarsia.research.holes.cut_holes import (
    CUT_HOLE_KINDS,
    CutHole,
    CutHoleKind,
    cut_holes,
)

Rows: TypeAlias = list[dict[str, Any]]

SEED = 20261121
HOLES_A_FILE = range(4, 7)
LINES_A_HOLE = 16
"""A file has one hole for so many of its lines, within the bounds above."""

MAX_STRING_CHARS = 24
MAX_TRUTH_CHARS = 320
NUM_LINES_AROUND = 10
FEWEST_INFORMATIVE_CHARS = 2

_UNKNOWABLE = re.compile(r"https?://|\b(?=[a-f]*\d)[\da-fA-F]{12,}\b|\b\d[\d_]{4,}\b")
_IMPORT = re.compile(r"^\s*(?:import|from|package|use|using|#\s*include|require(?:_relative)?)\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A file's text, and of each of its characters whether it is code, string or comment."""

    text: str
    language: Language
    codes: bytearray


def main() -> None:
    """Draw the holes of every file and write the manifest anew."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    manifest_file: Path = options.folder / "manifest.json"
    manifest: dict[str, Any] = json.loads(manifest_file.read_text(encoding="utf-8"))
    manifest["holes"] = draw_all(options.folder, manifest["files"], seed=options.seed)
    text = json.dumps(manifest, indent=1, ensure_ascii=False)
    manifest_file.write_text(text + "\n", encoding="utf-8")


def draw_all(folder: Path, files: Rows, *, seed: int) -> Rows:
    """Return the holes of all files as rows, the kinds about even within each language."""
    rows: Rows = []
    num_drawn: Counter[tuple[str, CutHoleKind]] = Counter()
    for file in sorted(files, key=lambda row: str(row["path"])):
        path = str(file["path"])
        text = (folder / path).read_bytes().decode("utf-8")
        source = read_source(text, language_for_id(file["language"]))
        num_of_kind = Counter(
            {kind: num_drawn[source.language.id, kind] for kind in CUT_HOLE_KINDS}
        )
        for hole in draw_holes(source, num_of_kind, random.Random(f"{seed}:{path}")):
            num_drawn[source.language.id, hole.kind] += 1
            rows.append({"path": path, "kind": hole.kind, "start": hole.start, "end": hole.end})
    return rows


def read_source(text: str, language: Language) -> Source:
    """Return a text with what its parser says. Raises ValueError where it does not parse."""
    syntax = parse_afresh(text, language)
    if syntax is None or syntax.tree.root_node.has_error:
        raise ValueError(f"this is not whole {language.id}: {text[:60]!r}...")
    return Source(text=text, language=language, codes=map_code(syntax))


def draw_holes(
    source: Source, num_of_kind: Counter[CutHoleKind], chance: random.Random
) -> list[CutHole]:
    """Return holes that share no line and no text, in order; rarer kinds come first.

    ``num_of_kind``: how many of each kind the language has so far.
    """
    num_wanted = max(source.text.count("\n") // LINES_A_HOLE, HOLES_A_FILE[0])
    candidates = {
        kind: _in_chance_order(source, holes, chance)
        for kind, holes in cut_holes(source.text, source.language).items()
    }
    drawn: list[CutHole] = []
    counts = num_of_kind.copy()
    while len(drawn) < min(num_wanted, HOLES_A_FILE[-1]) and candidates:
        kind = min(candidates, key=lambda kind: (counts[kind], CUT_HOLE_KINDS.index(kind)))
        hole = next((it for it in candidates[kind] if _is_apart(source.text, it, drawn)), None)
        if hole is None:
            del candidates[kind]
            continue
        drawn.append(hole)
        counts[kind] += 1
    return sorted(drawn, key=lambda hole: hole.start)


def can_be_known(source: Source, hole: CutHole) -> bool:
    """Whether the rest of the file may be enough to find this text, and is no copy of it."""
    text, codes = source.text, source.codes[hole.start : hole.end]
    truth = text[hole.start : hole.end]
    if len(truth) > MAX_TRUTH_CHARS or _num_informative(truth) < FEWEST_INFORMATIVE_CHARS:
        return False
    if COMMENT in codes or codes.count(STRING) > MAX_STRING_CHARS:
        return False
    if _UNKNOWABLE.search(truth) or _IMPORT.match(_line_of(text, hole.start)):
        return False
    code = "".join(char for char, of in zip(truth, codes, strict=True) if of == CODE)
    if _num_informative(code) < FEWEST_INFORMATIVE_CHARS and not _stands_elsewhere(text, hole):
        return False
    return not _stands_nearby(text, hole)


def _in_chance_order(
    source: Source, holes: list[CutHole], chance: random.Random
) -> Iterator[CutHole]:
    shuffled = chance.sample(holes, len(holes))
    return (hole for hole in shuffled if can_be_known(source, hole))


def _is_apart(text: str, hole: CutHole, others: list[CutHole]) -> bool:
    first, last = _line_number(text, hole.start), _line_number(text, hole.end)
    truth = text[hole.start : hole.end].strip()
    return all(
        (last < _line_number(text, other.start) or _line_number(text, other.end) < first)
        and truth != text[other.start : other.end].strip()
        for other in others
    )


def _stands_nearby(text: str, hole: CutHole) -> bool:
    """Whether the lines above or below have the same text, so that it could be copied."""
    truth = text[hole.start : hole.end].strip()
    above = "\n".join(text[: hole.start].split("\n")[-NUM_LINES_AROUND - 1 :])
    below = "\n".join(text[hole.end :].split("\n")[: NUM_LINES_AROUND + 1])
    return truth in above or truth in below


def _stands_elsewhere(text: str, hole: CutHole) -> bool:
    """Whether the words of a string alone are said anywhere else: nobody can guess new ones."""
    words = text[hole.start : hole.end].strip(" \t,;()[]\"'`")
    return words in text[: hole.start] or words in text[hole.end :]


def _num_informative(text: str) -> int:
    return sum(map(str.isalnum, text))


def _line_of(text: str, offset: int) -> str:
    return text[text.rfind("\n", 0, offset) + 1 :].split("\n", 1)[0]


def _line_number(text: str, offset: int) -> int:
    return text.count("\n", 0, offset)


if __name__ == "__main__":
    main()
