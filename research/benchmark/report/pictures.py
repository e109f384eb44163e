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

    ``lines``: label of a line → pattern of its figures' names; the group of the pattern is the
    position on the x axis, a number or a word. ``scale``: factor of the y values. ``words``:
    labels of positions that differ from the group.
    """

    file: str
    title: str
    x: str
    y: str
    lines: Mapping[str, str]
    scale: float = 1.0
    is_logarithmic: bool = False
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A point with its interval; ``low`` and ``high`` equal ``y`` if it is unknown."""

    x: str
    y: float
    low: float
    high: float


_SECONDS = 1e-3
_SYSTEMS = {"intarsia": "intarsia", "llama.cpp": "llama_cpp", "transformers": "transformers"}

PICTURES = (
    *(
        Picture(
            file=f"bench-{state}.svg",
            title=f"A single line, about 1.3 k tokens of context, {words}",
            x="",
            y="ms",
            lines={name: f"side_{key}_{state}_(p\\d+)_ms" for name, key in _SYSTEMS.items()},
        )
        for state, words in (("warm", "cached"), ("cold", "not cached"))
    ),
    Picture(
        file="bench-context.svg",
        title="A single line in a longer and longer file",
        x="thousands of tokens in the file",
        y="seconds",
        lines={
            "whole, cold": r"context_(\d+)k_cold_ms",
            "whole, warm": r"context_(\d+)k_warm_ms",
            "cut as usual, cold": r"file_(\d+)k_cold_ms",
            "cut as usual, warm": r"file_(\d+)k_warm_ms",
        },
        scale=_SECONDS,
        is_logarithmic=True,
    ),
    Picture(
        file="bench-holes.svg",
        title="Blocks of more and more lines, the context cached",
        x="lines in the block",
        y="ms per token",
        lines={
            "intarsia": r"hole_intarsia_(\d+)_lines_token_ms",
            "llama.cpp": r"hole_llama_cpp_(\d+)_lines_token_ms",
        },
    ),
    Picture(
        file="bench-typing.svg",
        title="5 keys a second: answered within 300 ms, before the next key",
        x="",
        y="% of the keys",
        lines={
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


def points(figures: Sequence[Figure], pattern: str, scale: float = 1.0) -> list[Point]:
    """Return the measured figures with names of this pattern as points, in order."""
    found = []
    for figure in figures:
        match = re.fullmatch(pattern, figure.name)
        if match and figure.value is not None:
            low, high = figure.bounds or (figure.value, figure.value)
            found.append(
                Point(x=match[1], y=scale * figure.value, low=scale * low, high=scale * high)
            )
    return found


def draw_pictures(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """Draw every picture that has points, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for picture in PICTURES:
        lines = {
            name: found
            for name, pattern in picture.lines.items()
            if (found := points(figures, pattern, picture.scale))
        }
        if lines:
            _draw(picture, lines, folder / picture.file)
            drawn.append(folder / picture.file)
    return drawn


def _draw(picture: Picture, lines: Mapping[str, Sequence[Point]], path: Path) -> None:
    """Draw a logarithmic picture as lines, any other as groups of bars."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(8, 4), layout="constrained")
    axes = drawing.subplots()
    places = list(dict.fromkeys(point.x for found in lines.values() for point in found))
    labels = [picture.words.get(place, place) for place in places]
    width = 0.8 / len(lines)
    for number, (name, found) in enumerate(lines.items()):
        ys = [point.y for point in found]
        errors = [[p.y - p.low for p in found], [p.high - p.y for p in found]]
        shown_errors = errors if any(map(any, errors)) else None
        if picture.is_logarithmic:
            xs = [float(point.x) for point in found]
            axes.errorbar(xs, ys, yerr=shown_errors, marker="o", capsize=3, label=name)
        else:
            xs = [places.index(p.x) + (number - (len(lines) - 1) / 2) * width for p in found]
            axes.bar(xs, ys, width, yerr=shown_errors, capsize=2, label=name)
    if picture.is_logarithmic:
        axes.set(xscale="log", yscale="log")
        axes.set_xticks([float(it) for it in places], labels=labels)
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:g}")
    else:
        axes.set_xticks(range(len(places)), labels=labels)
    axes.set(title=picture.title, xlabel=picture.x, ylabel=picture.y)
    axes.legend(fontsize="small")
    # Text stays text, and the same figures give the same file.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "intarsia"}):
        drawing.savefig(path, metadata={"Date": None})
