"""The demo's sample files and the holes in them, which samples/holes.toml lists."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intarsia.cli.source_file import read_source
from intarsia.cli.text_positions import Position, parse_position
from intarsia.infill.languages import Language, language_for_path

_FOLDER = Path(__file__).parent / "samples"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One hole of one file; ``shows`` says in plain words what kind of hole it is."""

    file: str
    text: str
    language: Language
    at: Position
    shows: str


def read_samples() -> Sequence[Sample]:
    """Return the holes in the order in which they are shown."""
    table = tomllib.loads((_FOLDER / "holes.toml").read_text(encoding="utf-8"))
    return [
        Sample(
            file=row["file"],
            text=read_source(_FOLDER / row["file"]).text,
            language=language_for_path(row["file"]),
            at=parse_position(row["at"]),
            shows=row["shows"],
        )
        for row in table["hole"]
    ]
