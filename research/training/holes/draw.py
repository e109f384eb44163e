"""Draws the holes of a training run from a corpus folder."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from intarsia_research.corpus.corpus_file import CorpusFile, read_corpus
from intarsia_research.training.draw_holes import TrainingHole, draw_holes
from intarsia_research.training.holes.project_holes import draw_holes_in_projects


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleDraw:
    """``max_holes``: about how many in all, from files drawn at random; None: from every file.

    ``project_share``: how often a hole reads code of other files, where there is some.
    """

    seed: int
    per_file: int
    max_holes: int | None = None
    project_share: float = 0.0


def draw_from_corpus(
    corpus: Path, draw: HoleDraw, on_progress: Callable[[str, float | None], None]
) -> Iterator[TrainingHole]:
    """Return the holes of a corpus folder. Raises CorpusFault if it cannot be read.

    The same folder and draw give the same holes.
    """
    files = list(read_corpus(corpus))
    num_files = len(files)
    if draw.max_holes is not None:
        num_files = min(num_files, max(1, draw.max_holes // draw.per_file))
    chosen = {file.name for file in random.Random(draw.seed).sample(files, num_files)}
    if not draw.project_share:
        drawn = (file for file in files if file.name in chosen)
        return draw_holes(drawn, seed=draw.seed, per_file=draw.per_file)
    return draw_holes_in_projects(
        _reported(files, on_progress),
        seed=draw.seed,
        per_file=draw.per_file,
        share=draw.project_share,
        chosen=chosen,
    )


def _reported(
    files: list[CorpusFile], on_progress: Callable[[str, float | None], None]
) -> Iterator[CorpusFile]:
    for number, file in enumerate(files):
        if number % 50 == 0:
            on_progress(f"choosing code of other files: {file.package_name}", number / len(files))
        yield file
