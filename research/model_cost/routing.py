"""How many experts a pass really touches: the routers' choices, counted layer by layer."""

from collections.abc import Callable
from typing import Any

import torch


def count_touched(model: Any, run: Callable[[], object]) -> list[int]:
    """Run once; return for each layer of the decoder how many experts any row chose."""
    touched: list[int] = []

    def look(router: object, rows: object, outputs: tuple[torch.Tensor, ...]) -> None:
        touched.append(int(torch.unique(outputs[2]).numel()))

    hooks = [layer.router.register_forward_hook(look) for layer in model.model.decoder.layers]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return touched
