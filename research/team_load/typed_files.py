"""What the users of a team type: files of the standard library, each at places of its own."""

import random
from collections.abc import Sequence

from intarsia.engine.ipc.messages import Fill
from intarsia.infill.canvas.window import Window
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import plan_at_cursor
from intarsia.infill.languages import language_for_id
from intarsia.infill.suggestion import NoSuggestion
from intarsia_research.benchmark.editor.sources import CutLine, cut_lines
from intarsia_research.team_load.typing_users import Ask

_PYTHON = language_for_id("python")
_TYPED_CHARS = 400  # at a place, and the rest of a line


class TypedFiles:
    """The files of a number of users; each has one of the library's files at a time."""

    def __init__(self, seed: int = 0) -> None:
        self._lines: Sequence[CutLine] = cut_lines(100)
        self._seed = seed
        self._windows: dict[int, tuple[int, Window]] = {}  # by user: the place, and what was shown

    def request(self, ask: Ask) -> Fill | None:
        """Return what an editor asks the engine, None where there is no hole.

        What is not typed yet is cut out of the file. As for an editor, what was shown at this
        place is shown again, so that the engine has read it.
        """
        before, after = self._text_at(ask)
        place, window = self._windows.get(ask.user, (None, None))
        earlier = () if window is None or place != ask.place else (window,)
        plan = plan_at_cursor(before + after, len(before), _PYTHON, FillOptions(), earlier)
        if isinstance(plan, NoSuggestion):
            return None
        self._windows[ask.user] = (ask.place, plan.canvas.window)
        return plan.request(FillOptions())

    def _text_at(self, ask: Ask) -> tuple[str, str]:
        """Return a file before and after the cursor: at each place it is another line's start."""
        chosen = random.Random(f"{self._seed} {ask.user} {ask.place}")
        line = chosen.choice(self._lines)
        starts = [line.start, *(line.start + at for at in _starts(line.text[line.start :]))]
        start = chosen.choice(starts)
        end = line.text.find("\n", start + _TYPED_CHARS)
        end = len(line.text) if end < 0 else end
        return line.text[: min(start + ask.num_typed, end)], line.text[end:]


def _starts(text: str) -> Sequence[int]:
    """Return where lines begin, without their indentation, in the first half of a text."""
    found, at = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip() and at < len(text) // 2:
            found.append(at + len(line) - len(line.lstrip()))
        at += len(line)
    return found
