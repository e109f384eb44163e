"""Whole lines of code: only a newline ends a line."""


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends; no other character than a newline ends a line."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + lines[-1:] * bool(lines[-1])


def with_newline(lines: str) -> str:
    """Return whole lines; no text stays none."""
    return lines if not lines or lines.endswith("\n") else lines + "\n"
