"""A checkpoint that cancels a fill when a condition holds."""

from collections.abc import Callable

from intarsia.engine.errors import Cancelled
from intarsia.engine.fill_control import FillControl


def cancel_when(is_cancelled: Callable[[], bool]) -> Callable[[], None]:
    def checkpoint() -> None:
        if is_cancelled():
            raise Cancelled

    return checkpoint


def cancelling(is_cancelled: Callable[[], bool]) -> FillControl:
    """Return the control of a fill without a deadline that such a checkpoint cancels."""
    return FillControl(checkpoint=cancel_when(is_cancelled))
