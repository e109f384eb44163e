"""What is seen while a fill is under way: the model's loading first, then the canvas if wanted."""

from types import TracebackType
from typing import Self

from rich.console import Console

from intarsia.cli.load_bar import LoadBar
from intarsia.cli.watch import LiveCanvas
from intarsia.engine.ipc.messages import LoadProgress, Step
from intarsia.filling.fill_all import Progress
from intarsia.filling.fill_in_order import OnHoleStep
from intarsia.infill.hole import Hole


class WaitingView:
    """One thing at a time on the terminal, and nothing left of it in the end."""

    def __init__(self, console: Console, *, watch: bool) -> None:
        self._bar = LoadBar(console)
        self._canvas = LiveCanvas(console)
        self.on_step: OnHoleStep | None = self._show_step if watch else None

    def on_load_progress(self, progress: LoadProgress) -> None:
        self._canvas.hide()
        self._bar.update(progress.stage, progress.fraction)

    def on_fill_progress(self, progress: Progress) -> None:
        self._canvas.hide()
        self._bar.update(progress.in_words, progress.share)

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
