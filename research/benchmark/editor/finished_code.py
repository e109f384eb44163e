"""Finished code to type once more: stretches of files that are younger than the model.

When all of a stretch is typed, its file is as its author left it. So while it is typed, nothing
else in the file is to be changed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from intarsia.infill.syntax.lines import with_plain_newlines
from intarsia_research.evaluation.sets.builtin import builtin_cases
from intarsia_research.evaluation.sets.take_turns import take_turns

MAX_LINES = 40
"""Of a stretch."""

_FEWEST_LINES = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class FinishedStretch:
    """Lines that are typed on an empty line between ``before`` and ``after``: whole lines.

    ``typed`` is without its last line end.
    """

    path: str
    language: str  # LSP language id
    before: str
    typed: str
    after: str

    def present(self, typed: str) -> str:
        """Return the file when this much is typed."""
        return f"{self.before}{typed}\n{self.after}"


def finished_stretches(count: int) -> list[FinishedStretch]:
    """Return up to ``count`` stretches, one a file; the languages take turns.

    Of every other file the stretch is the end: nothing is below what is typed.
    """
    texts: dict[str, tuple[str, str]] = {}
    for case in builtin_cases(languages=None, kinds=None, limit=None, seed=0):
        text = with_plain_newlines(case.filled(case.truth))
        if text.count("\n") >= _FEWEST_LINES:
            texts[case.path] = (case.language, text)
    return [
        _stretch(path, language, text, is_end=number % 2 == 1)
        for number, (path, (language, text)) in enumerate(islice(_in_turn(texts), count))
    ]


def _in_turn(
    texts: Mapping[str, tuple[str, str]],
) -> Iterator[tuple[str, tuple[str, str]]]:
    languages = sorted({language for language, _ in texts.values()})
    sources = {
        (name, ""): iter([(path, one) for path, one in sorted(texts.items()) if one[0] == name])
        for name in languages
    }
    return take_turns(sources, languages, [""])


def _stretch(path: str, language: str, text: str, *, is_end: bool) -> FinishedStretch:
    lines = text.splitlines(keepends=True)
    first = len(lines) // 3
    end = min(len(lines), first + MAX_LINES)
    return FinishedStretch(
        path=path,
        language=language,
        before="".join(lines[:first]),
        typed="".join(lines[first:end]).rstrip("\n"),
        after="" if is_end else "".join(lines[end:]),
    )
