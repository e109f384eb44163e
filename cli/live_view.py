"""The terminal's view of work: a progress bar, or the canvas of a fill step by step.

``LoadBar`` and ``LiveCanvas`` show one each; ``WaitingView`` shows one of the two at a time. All
are context managers that leave nothing on the terminal, and show nothing where there is no
terminal.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as ProgressBar
from rich.style import Style
from rich.text import Text

from intarsia.engine.ipc.messages import CanvasToken, LoadProgress, Step
from intarsia.engine.ipc.printable import displayable
from intarsia.infill.syntax.text import line_end, line_start

if TYPE_CHECKING:  # downloads show a bar too, and need no grammars
    from intarsia.infill.filling.fill_places import FillProgress
    from intarsia.infill.filling.plan import OnHoleStep
    from intarsia.infill.holes.hole import Hole


class _View(ABC):
    """Something on the terminal that is hidden when its block ends."""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def hide(self) -> None:
        """Remove it from the terminal."""

    def __exit__(self, *exc: object) -> None:
        self.hide()


class WaitingView(_View):
    """Shows that a fill runs, how the model loads, or the canvas if ``watch``."""

    def __init__(self, console: Console, *, watch: bool) -> None:
        self._bar = LoadBar(console)
        self._canvas = LiveCanvas(console)
        self.on_step: OnHoleStep | None = self._show_step if watch else None

    def __enter__(self) -> Self:
        self.wait()
        return self

    def wait(self) -> None:
        """Say that the engine is filling: it may take seconds to read."""
        self._bar.update("filling", None)

    def on_load_progress(self, progress: LoadProgress) -> None:
        self._canvas.hide()
        self._bar.update(progress.stage, progress.fraction)

    def on_fill_progress(self, progress: "FillProgress") -> None:
        self._canvas.hide()
        self._bar.update(progress.description, progress.fraction)

    def hide(self) -> None:
        self._bar.hide()
        self._canvas.hide()

    def _show_step(self, text: str, hole: "Hole", step: Step) -> None:
        self._bar.hide()
        self._canvas.show(text, hole, step)


class LoadBar(_View):
    """A progress bar with a description; ``words`` are on show from the start."""

    def __init__(self, console: Console, words: str = "") -> None:
        self._words = words
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

    def __enter__(self) -> Self:
        if self._words:
            self.update(self._words, None)
        return self

    def update(self, stage: str, fraction: float | None) -> None:
        """Show a stage of the work and how much is done, 0 to 1; None: unknown."""
        total = None if fraction is None else 1.0
        done = fraction or 0.0
        self._progress.update(
            self._task, description=stage, completed=done, total=total, visible=True, refresh=True
        )
        self._progress.start()

    def hide(self) -> None:
        self._progress.stop()


_MASK = "░"
_MAX_COLUMNS = 100
_MIN_CONFIDENCE_SHOWN = 0.25
"""A less confident guess is drawn as a mask."""

_COLOURS = ((0.9, "green"), (0.6, "yellow"), (0.3, "dark_orange"), (0.0, "red"))
"""Least confidence of each colour."""


class LiveCanvas(_View):
    """The canvas of a fill: each step replaces the one before."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def show(self, text: str, hole: "Hole", step: Step) -> None:
        """Draw one step between the text before and after the hole on its line."""
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
        self._live.stop()


def render_canvas(tokens: Sequence[CanvasToken]) -> Text:
    """Return the canvas as text: settled tokens bold, guesses dim, masks as ``░``."""
    return Text.assemble(*(_render_token(token) for token in tokens))


def _render_token(token: CanvasToken) -> tuple[str, Style]:
    if token.is_settled:
        return displayable(token.text), Style(color=_colour(token.confidence), bold=True)
    guess = displayable(token.text)
    if guess and (token.confidence or 0.0) >= _MIN_CONFIDENCE_SHOWN:
        return guess, Style(color=_colour(token.confidence), italic=True, dim=True)
    return _MASK, Style(dim=True)


def _colour(confidence: float | None) -> str | None:
    if confidence is None:
        return None
    return next(colour for least, colour in _COLOURS if confidence >= least or least == 0.0)
