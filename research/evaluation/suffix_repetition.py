"""Detect whether a fill ends with the text that already follows its hole.

The rule depends on the text only, so every system is measured by the same one. Cutting such a
repetition is done elsewhere, in ``infill.postprocess``.
"""

from collections.abc import Sequence

from intarsia.infill.syntax.text import with_plain_newlines

MIN_SIGNS_ON_LINE = 3
"""Least length of a repetition on the hole's own line; it must contain a letter or digit."""


def repeats_suffix(prefix: str, text: str, suffix: str) -> bool:
    """Return whether the end of the text is the beginning of the suffix.

    Either its end repeats the beginning of the rest of the hole's line, with three characters or
    more and a letter or digit among them. Or its last lines repeat the first lines below, with
    their indentation. Blank lines do not count. The last of several repeated lines may be cut.
    """
    if not text.strip():
        return False
    rest, _, below = with_plain_newlines(suffix).partition("\n")
    written, following = _written_lines(prefix, with_plain_newlines(text)), _lines(below)
    if not rest.strip():
        return any(
            line in following[:1] and _goes_on(written[index + 1 :], following[1:])
            for index, line in enumerate(written)
        )
    return _repeats_on_line(text, rest) or any(
        line.endswith(rest.strip()) and _goes_on(written[index + 1 :], following)
        for index, line in enumerate(written[:-1])
    )


def _written_lines(prefix: str, text: str) -> list[str]:
    """Return the lines that contain some of the text."""
    if not text.partition("\n")[0].strip():
        return _lines(text)
    return _lines(with_plain_newlines(prefix).rpartition("\n")[2] + text)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def _goes_on(written: Sequence[str], following: Sequence[str]) -> bool:
    """Return whether the rest of the text is the next lines, the last one perhaps cut."""
    if not written:
        return True
    if len(written) > len(following):
        return False
    *whole, last = written
    return whole == list(following[: len(whole)]) and following[len(whole)].startswith(last)


def _repeats_on_line(text: str, rest: str) -> bool:
    end, head = text.rstrip().rpartition("\n")[2], rest.strip()
    return any(
        _is_telling(head[:count]) and end.endswith(head[:count])
        for count in range(MIN_SIGNS_ON_LINE, min(len(end), len(head)) + 1)
    )


def _is_telling(text: str) -> bool:
    num_signs = sum(not character.isspace() for character in text)
    return num_signs >= MIN_SIGNS_ON_LINE and any(character.isalnum() for character in text)
