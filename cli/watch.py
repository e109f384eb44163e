"""The canvas while it settles: the engine's steps come in, a live picture goes out."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.style import Style
from rich.text import Text

from intarsia.cli.displayable import displayable
from intarsia.engine.ipc.messages import CanvasToken, Step
from intarsia.infill.hole import Hole
from intarsia.infill.lines import line_end, line_start

_SOFT_MARK = "░"
_MAX_COLUMNS = 100
_GUESS_IS_SHOWN_FROM = 0.25
"""Below this confidence a position is as good as masked."""

_COLOURS = ((0.9, "green"), (0.6, "yellow"), (0.3, "dark_orange"), (0.0, "red"))


class LiveCanvas:
    """Shows each step in place of the one before, and leaves nothing behind. On a terminal only."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def show(self, text: str, hole: Hole, step: Step) -> None:
        """Draw one step between what stands before the hole and after it on its line."""
        lead = text[max(line_start(text, hole.start), hole.start - _MAX_COLUMNS) : hole.start]
        rest = text[hole.end : min(line_end(text, hole.end), hole.end + _MAX_COLUMNS)]
        self._live.start()
        self._live.update(
            Text.assemble(
                (displayable(lead), "dim"),
                render_canvas(step.tokens),
                (displayable(rest), "dim"),
                (f"\nstep {step.step}", "dim italic"),
            ),
            refresh=True,
        )

    def hide(self) -> None:
        """Leave the terminal to others."""
        self._live.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.hide()


def render_canvas(tokens: Sequence[CanvasToken]) -> Text:
    """Return the canvas as text: settled tokens firm, guesses faint, masks as soft marks."""
    return Text.assemble(*(_render_token(token) for token in tokens))


def _render_token(token: CanvasToken) -> tuple[str, Style]:
    if token.is_settled:
        return displayable(token.text), Style(color=_colour(token.confidence), bold=True)
    guess = displayable(token.text)
    if guess and token.confidence >= _GUESS_IS_SHOWN_FROM:
        return guess, Style(color=_colour(token.confidence), italic=True, dim=True)
    return _SOFT_MARK, Style(dim=True)


def _colour(confidence: float) -> str:
    return next(colour for least, colour in _COLOURS if confidence >= least or least == 0.0)
