"""Tells whether a file is a copy of another one, such as a build's: it would give holes away."""

FEWEST_LINES = 5
SHARE = 0.5
"""Two files of the same name are copies if the smaller one has this share of its lines in both."""


def lines_of(text: str) -> frozenset[str]:
    """Return the lines of a text that are compared: without indentation and without empty ones."""
    return frozenset(line.strip() for line in text.split("\n") if line.strip())


def is_copy(lines: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two files of the same name, given by their lines, are copies."""
    fewest = min(len(lines), len(other))
    return fewest >= FEWEST_LINES and len(lines & other) >= SHARE * fewest
