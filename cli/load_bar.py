"""A progress bar for work that takes long: downloads, conversions, the loading of a model.

Drawn on a terminal only, from the first message on; it leaves nothing behind.
"""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn


class LoadBar:
    """One bar whose words and length follow what the worker reports."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
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
