"""What is seen while a fill is under way: the model's loading first, then the canvas if wanted."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as ProgressBar
from rich.style import Style
from rich.text import Text

from intarsia.cli.terminal import displayable
from intarsia.engine.ipc.messages import CanvasToken, LoadProgress, Step
from intarsia.infill.filling.fill_all import FillProgress
from intarsia.infill.filling.options import OnHoleStep
from intarsia.infill.holes.hole import Hole
from intarsia.infill.syntax.lines import line_end, line_start


class LoadBar:
    """One bar whose words and length follow what the worker reports."""

    def __init__(self, console: Console) -> None:
        self._progress = ProgressBar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            console=console,
            transient=True,
            disable=not console.is_interactive,
        )
        self._task = self._progress.add_task("", total=None, visible=False)

    def update(self, stage: str, fraction: float | None) -> None:
        """Draw a stage of the work, done by a fraction, or by nobody knows how much."""
        total = None if fraction is None else 1.0
        self._progress.update(
            self._task, description=stage, completed=fraction or 0.0, total=total, visible=True
        )
        self._progress.start()

    def hide(self) -> None:
        """Leave the terminal to others."""
        self._progress.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.hide()


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


class WaitingView:
    """One thing at a time on the terminal, and nothing left of it in the end."""

    def __init__(self, console: Console, *, watch: bool) -> None:
        self._bar = LoadBar(console)
        self._canvas = LiveCanvas(console)
        self.on_step: OnHoleStep | None = self._show_step if watch else None

    def on_load_progress(self, progress: LoadProgress) -> None:
        self._canvas.hide()
        self._bar.update(progress.stage, progress.fraction)

    def on_fill_progress(self, progress: FillProgress) -> None:
        self._canvas.hide()
        self._bar.update(progress.description, progress.fraction)

    def hide(self) -> None:
        """Leave the terminal to the results."""
        self._bar.hide()
        self._canvas.hide()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.hide()

    def _show_step(self, text: str, hole: Hole, step: Step) -> None:
        self._bar.hide()
        self._canvas.show(text, hole, step)
