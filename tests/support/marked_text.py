"""Source drawn with marks: one ``║`` is a cursor, two are a range; ``├…┤`` is a fill."""

from dataclasses import dataclass

MARK = "║"


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkedText:
    text: str
    start: int
    end: int


def read_marked(source: str) -> MarkedText:
    """Read a source with one cursor mark or the two marks of a range."""
    before, *later = source.split(MARK)
    assert len(later) in (1, 2), f"one mark or two, not {len(later)}: {source!r}"
    start = len(before)
    return MarkedText(
        text=before + "".join(later),
        start=start,
        end=start + (len(later[0]) if len(later) == 2 else 0),
    )


def draw_filled(text: str, start: int, end: int, fill: str) -> str:
    """Draw a text with ``text[start:end]`` replaced by the fill, between ``├`` and ``┤``."""
    return f"{text[:start]}├{fill}┤{text[end:]}"
