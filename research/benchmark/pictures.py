"""Draw a benchmark's figures as SVG pictures.

Figures that were not measured are left out, and so are empty pictures. matplotlib is imported only
for drawing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from intarsia_research.benchmark.figures import Figure


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """One picture.

    ``bars``: label of a system → pattern of its figures' names; the group of the pattern is the
    position on the x axis. ``words``: labels of positions that differ from the group.
    """

    file: str
    title: str
    y: str
    bars: Mapping[str, str]
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A point with its interval; ``low`` and ``high`` equal ``y`` if it is unknown."""

    x: str
    y: float
    low: float
    high: float


_SYSTEMS = {"intarsia": "intarsia", "llama.cpp": "llama_cpp", "transformers": "transformers"}

PICTURES = (
    *(
        Picture(
            file=f"bench-{state}.svg",
            title=f"A single line, about 1.3 k tokens of context, {words}",
            y="ms",
            bars={name: f"side_{key}_{state}_(p\\d+)_ms" for name, key in _SYSTEMS.items()},
        )
        for state, words in (("warm", "cached"), ("cold", "not cached"))
    ),
    Picture(
        file="bench-typing.svg",
        title="5 keys a second: answered within 300 ms, before the next key",
        y="% of the keys",
        bars={
            "intarsia": r"typing_(prompt|text|shown)_share",
            "llama.cpp": r"typing_llama_cpp_(prompt|text|shown)_share",
        },
        words={
            "prompt": "any answer",
            "text": "a complete text",
            "shown": "a complete text or a draft",
        },
    ),
)


def points(figures: Sequence[Figure], pattern: str) -> list[Point]:
    """Return the measured figures with names of this pattern as points, in order."""
    found = []
    for figure in figures:
        match = re.fullmatch(pattern, figure.name)
        if match and figure.value is not None:
            low, high = figure.bounds or (figure.value, figure.value)
            found.append(Point(x=match[1], y=figure.value, low=low, high=high))
    return found


def draw_pictures(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """Draw every picture that has points, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for picture in PICTURES:
        bars = {
            name: found
            for name, pattern in picture.bars.items()
            if (found := points(figures, pattern))
        }
        if bars:
            _draw(picture, bars, folder / picture.file)
            drawn.append(folder / picture.file)
    return drawn


def _draw(picture: Picture, bars: Mapping[str, Sequence[Point]], path: Path) -> None:
    """Draw groups of bars."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(8, 4), layout="constrained")
    axes = drawing.subplots()
    places = list(dict.fromkeys(point.x for found in bars.values() for point in found))
    labels = [picture.words.get(place, place) for place in places]
    width = 0.8 / len(bars)
    for number, (name, found) in enumerate(bars.items()):
        ys = [point.y for point in found]
        errors = [[p.y - p.low for p in found], [p.high - p.y for p in found]]
        shown_errors = errors if any(map(any, errors)) else None
        xs = [places.index(p.x) + (number - (len(bars) - 1) / 2) * width for p in found]
        axes.bar(xs, ys, width, yerr=shown_errors, capsize=2, label=name)
    axes.set_xticks(range(len(places)), labels=labels)
    axes.set(title=picture.title, ylabel=picture.y)
    axes.legend(fontsize="small")
    # Text stays text, and the same figures give the same file.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "intarsia"}):
        drawing.savefig(path, metadata={"Date": None})
