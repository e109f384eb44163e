"""Count the experts that a pass activates, layer by layer."""

from collections.abc import Callable
from typing import Any

import torch


def count_touched(model: Any, run: Callable[[], object]) -> list[int]:
    """Run once; return for each decoder layer how many experts any row was routed to."""
    touched: list[int] = []

    def count(router: object, rows: object, outputs: tuple[torch.Tensor, ...]) -> None:
        touched.append(int(torch.unique(outputs[2]).numel()))

    hooks = [layer.router.register_forward_hook(count) for layer in model.model.decoder.layers]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return touched
