"""Which lines of the benchmark's pictures have points."""

from collections.abc import Sequence

from intarsia_research.benchmark.figures import Figure
from intarsia_research.benchmark.report.pictures import PICTURES, points


def plotted_lines(figures: Sequence[Figure]) -> dict[str, list[str]]:
    """Return the names of the lines that these figures draw, by picture."""
    drawn = {
        picture.file: [name for name, line in picture.lines.items() if points(figures, line)]
        for picture in PICTURES
    }
    return {file: names for file, names in drawn.items() if names}
