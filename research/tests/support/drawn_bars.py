"""Which systems have bars in the benchmark's pictures."""

from collections.abc import Sequence

from intarsia_research.benchmark.figures import Figure
from intarsia_research.benchmark.pictures import PICTURES, points


def drawn_bars(figures: Sequence[Figure]) -> dict[str, list[str]]:
    """Return the names of the systems that these figures draw, by picture."""
    drawn = {
        picture.file: [name for name, bars in picture.bars.items() if points(figures, bars)]
        for picture in PICTURES
    }
    return {file: names for file, names in drawn.items() if names}
