"""Draw the holes of the built-in set and store them in its manifest.

They are stored so that a newer parser cannot move them. Run it with
``python -m intarsia_research.evaluation.sets.make_builtin [--seed N]``. The README of
``builtin_files`` has the rules for choosing files.
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
from intarsia_research.evaluation.sets.builtin import FOLDER
from intarsia_research.holes.code_map import CODE, COMMENT, STRING, map_code
from intarsia_research.holes.cut_holes import (
    CUT_HOLE_KINDS,
    CutHole,
    CutHoleKind,
    cut_holes,
)

ManifestRows: TypeAlias = list[dict[str, Any]]

SEED = 20261121
HOLES_A_FILE = range(4, 7)
LINES_A_HOLE = 16
"""Lines of a file per hole, within the bounds above."""

MAX_STRING_CHARS = 24
MAX_TRUTH_CHARS = 320
NUM_LINES_AROUND = 10
FEWEST_INFORMATIVE_CHARS = 2

_UNKNOWABLE = re.compile(r"https?://|\b(?=[a-f]*\d)[\da-fA-F]{12,}\b|\b\d[\d_]{4,}\b")
_IMPORT = re.compile(r"^\s*(?:import|from|package|use|using|#\s*include|require(?:_relative)?)\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A file's text, and for each character whether it is code, string or comment."""

    text: str
    language: Language
    codes: bytearray


def main() -> None:
    """Draw the holes of every file and rewrite the manifest."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    manifest_file: Path = options.folder / "manifest.json"
    manifest: dict[str, Any] = json.loads(manifest_file.read_text(encoding="utf-8"))
    manifest["holes"] = draw_all(options.folder, manifest["files"], seed=options.seed)
    text = json.dumps(manifest, indent=1, ensure_ascii=False)
    manifest_file.write_text(text + "\n", encoding="utf-8")


def draw_all(folder: Path, files: ManifestRows, *, seed: int) -> ManifestRows:
    """Return the holes of all files as rows, with the kinds balanced within each language."""
    rows: ManifestRows = []
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
    """Return the parsed text. Raise ValueError if it has a syntax error."""
    syntax = parse_afresh(text, language)
    if syntax is None or syntax.tree.root_node.has_error:
        raise ValueError(f"not valid {language.id}: {text[:60]!r}...")
    return Source(text=text, language=language, codes=map_code(syntax))


def draw_holes(
    source: Source, num_of_kind: Counter[CutHoleKind], chance: random.Random
) -> list[CutHole]:
    """Return holes in order that share no line and no text; rarer kinds are preferred.

    ``num_of_kind``: the number of holes of each kind that the language already has.
    """
    num_holes = max(source.text.count("\n") // LINES_A_HOLE, HOLES_A_FILE[0])
    candidates = {
        kind: _in_chance_order(source, holes, chance)
        for kind, holes in cut_holes(source.text, source.language).items()
    }
    drawn: list[CutHole] = []
    counts = num_of_kind.copy()
    while len(drawn) < min(num_holes, HOLES_A_FILE[-1]) and candidates:
        kind = min(candidates, key=lambda kind: (counts[kind], CUT_HOLE_KINDS.index(kind)))
        hole = next((it for it in candidates[kind] if _is_apart(source.text, it, drawn)), None)
        if hole is None:
            del candidates[kind]
            continue
        drawn.append(hole)
        counts[kind] += 1
    return sorted(drawn, key=lambda hole: hole.start)


def can_be_known(source: Source, hole: CutHole) -> bool:
    """Return whether the text can be inferred from the rest of the file, but not copied."""
    text, codes = source.text, source.codes[hole.start : hole.end]
    truth = text[hole.start : hole.end]
    if len(truth) > MAX_TRUTH_CHARS or _num_informative(truth) < FEWEST_INFORMATIVE_CHARS:
        return False
    if COMMENT in codes or codes.count(STRING) > MAX_STRING_CHARS:
        return False
    if _UNKNOWABLE.search(truth) or _IMPORT.match(_line_of(text, hole.start)):
        return False
    code = "".join(char for char, of in zip(truth, codes, strict=True) if of == CODE)
    if _num_informative(code) < FEWEST_INFORMATIVE_CHARS and not _is_elsewhere(text, hole):
        return False
    return not _is_nearby(text, hole)


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


def _is_nearby(text: str, hole: CutHole) -> bool:
    """Return whether the nearby lines contain the same text, so that it could be copied."""
    truth = text[hole.start : hole.end].strip()
    above = "\n".join(text[: hole.start].split("\n")[-NUM_LINES_AROUND - 1 :])
    below = "\n".join(text[hole.end :].split("\n")[: NUM_LINES_AROUND + 1])
    return truth in above or truth in below


def _is_elsewhere(text: str, hole: CutHole) -> bool:
    """Return whether a string's text occurs elsewhere; otherwise it cannot be inferred."""
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
