"""Measure repairs: ``python -m intarsia_research.repair --count 24 --rows repairs.jsonl``.

The files are those of the built-in set, which no rule was tuned on, or others in a folder with one
folder for each language.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import msgspec

from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.languages import Language, language_for_id, language_for_path
from intarsia.infill.repair.find_repair import Asking
from intarsia_research.evaluation.sets.builtin import FOLDER
from intarsia_research.repair.breakages import draw_breakages
from intarsia_research.repair.measure import WAYS, RepairRow, Way, options_of, repair_all
from intarsia_research.repair.table import table_lines

LANGUAGES = ("python", "typescript", "javascript", "go", "rust", "java")

_decoder = msgspec.json.Decoder(RepairRow)


@click.command()
@click.option("--files", type=click.Path(path_type=Path, exists=True), default=FOLDER)
@click.option("--language", "languages", multiple=True, default=LANGUAGES)
@click.option("--count", default=24, show_default=True, help="Breakages of each language.")
@click.option("--seed", default=0, show_default=True)
@click.option("--way", "ways", multiple=True, type=click.Choice(WAYS), default=WAYS)
@click.option("--model", help="Default: the default model.")
@click.option("--rows", "path", type=click.Path(path_type=Path), help="Add each row to this file.")
def main(files: Path, languages: Sequence[str], path: Path | None, **options: Any) -> None:
    """Break good code by one token, repair it, and print the table of all rows."""
    run, rows = _Run(**options), [] if path is None or not path.exists() else _read(path)
    for language in map(language_for_id, languages):
        rows += asyncio.run(_measure(_texts(files, language), language, run, path))
    click.echo("\n".join(table_lines(rows)))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Run:
    """What is measured in each language."""

    count: int
    seed: int
    ways: Sequence[Way]
    model: str | None


async def _measure(
    texts: Mapping[str, str], language: Language, run: _Run, path: Path | None
) -> list[RepairRow]:
    """Return a row for each breakage and way; add each to the file as soon as it is known."""
    breakages, rows = draw_breakages(texts, language, count=run.count, seed=run.seed), []
    async with EngineClient(name="research") as client:
        options = options_of(run.model)
        asking = Asking(fill=client.fill, scores=client.score_texts, options=options)
        async for row in repair_all(asking, breakages, run.ways):
            rows.append(row)
            click.echo(f"{row.language} {row.kind} {row.way}: {row.outcome}", err=True)
            if path is not None:
                with path.open("ab") as file:
                    file.write(msgspec.json.encode(row) + b"\n")
    return rows


def _texts(folder: Path, language: Language) -> dict[str, str]:
    """Return the files of a language by their path in the folder."""
    paths = sorted((folder / language.id).rglob("*"))
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in paths
        if path.is_file() and language_for_path(path.name) is language
    }


def _read(path: Path) -> list[RepairRow]:
    return [_decoder.decode(line) for line in path.read_bytes().splitlines()]


if __name__ == "__main__":
    main()
