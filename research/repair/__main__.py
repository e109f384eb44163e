"""Measure repairs: ``python -m intarsia.research.repair --count 24 --rows repairs.jsonl``.

The files are those of the built-in set, which no rule was tuned on, or others in a folder with one
folder for each language.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import msgspec

from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.languages import Language, language_for_id, language_for_path
from intarsia.infill.repair.find_repair import Asking
from intarsia.research.evaluation.sets.builtin import FOLDER
from intarsia.research.repair.breakages import draw_breakages
from intarsia.research.repair.measure import WAYS, RepairRow, Way, options_of, repair_all
from intarsia.research.repair.table import table_lines

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
def main(
    files: Path,
    languages: Sequence[str],
    count: int,
    seed: int,
    ways: Sequence[Way],
    model: str | None,
    path: Path | None,
) -> None:
    """Break good code by one token, repair it, and print the table of all rows."""
    rows = [] if path is None or not path.exists() else _read(path)
    for language in map(language_for_id, languages):
        asyncio.run(
            _measure(_texts(files, language), language, count, seed, ways, model, rows, path)
        )
    click.echo("\n".join(table_lines(rows)))


async def _measure(
    texts: Mapping[str, str],
    language: Language,
    count: int,
    seed: int,
    ways: Sequence[Way],
    model: str | None,
    rows: list[RepairRow],
    path: Path | None,
) -> None:
    breakages = draw_breakages(texts, language, count=count, seed=seed)
    async with EngineClient(name="research") as client:
        asking = Asking(fill=client.fill, scores=client.score_texts, options=options_of(model))
        async for row in repair_all(asking, breakages, ways):
            rows.append(row)
            click.echo(f"{row.language} {row.kind} {row.way}: {row.outcome}", err=True)
            if path is not None:
                with path.open("ab") as file:
                    file.write(msgspec.json.encode(row) + b"\n")


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
