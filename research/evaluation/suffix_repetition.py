"""Says whether a fill ends with what already stands behind its hole.

Judges text alone, so that every system is measured by the same rule; cutting is
``infill.postprocess``'s matter.
"""

from collections.abc import Sequence

from intarsia.infill.syntax.lines import with_plain_newlines

MIN_SIGNS_ON_LINE = 3
"""So many signs, a letter or digit among them, must be the same to the right of the hole."""


def repeats_suffix(prefix: str, text: str, suffix: str) -> bool:
    """Whether the text's end is the beginning of what follows.

    Either its end is the head of the rest of the hole's own line, by three signs or more with a
    letter or digit among them; or its last lines are the first lines below, indentation and all.
    Blank lines do not count. Where several lines are the same, the last may be cut short.
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
    """Return the lines that the text has a part in."""
    if not text.partition("\n")[0].strip():
        return _lines(text)
    return _lines(with_plain_newlines(prefix).rpartition("\n")[2] + text)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def _goes_on(written: Sequence[str], following: Sequence[str]) -> bool:
    """Whether what is still written is the next lines, the last perhaps cut short."""
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
