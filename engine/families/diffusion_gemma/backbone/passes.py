"""DiffusionGemma's decoder passes: logits of canvases that follow the held context, any shape."""

import copy
from typing import Any, Protocol

import torch
from torch import Tensor


class DecoderPasses(Protocol):
    """Passes over canvases after one context."""

    def hold(self, view: Any, num_context: int) -> None:
        """Take the keys and values of a context, trimmed to what each layer may see."""
        ...

    def release(self) -> None:
        """Release the context; there are no passes until the next ``hold``."""
        ...

    def run(self, ids: Tensor, self_conditioning: Tensor | None) -> Tensor:
        """Return logits (canvases, length, vocab) of ids (canvases, length).

        ``self_conditioning`` has the same shape as the logits. These are valid until the next pass.
        """
        ...


class DirectPasses:
    """Runs transformers' own decoder."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._view: Any = None

    def hold(self, view: Any, num_context: int) -> None:
        self._view, self._num_context = view, num_context

    def release(self) -> None:
        self._view = None

    def run(self, ids: Tensor, self_conditioning: Tensor | None) -> Tensor:
        if self_conditioning is not None:
            self_conditioning = self_conditioning.to(self._model.dtype)
        positions = torch.arange(
            self._num_context,
            self._num_context + ids.shape[1],
            dtype=torch.int32,
            device=ids.device,
        )
        logits: Tensor = self._model(
            decoder_input_ids=ids,
            self_conditioning_logits=self_conditioning,
            past_key_values=repeated(self._view, len(ids)),
            decoder_position_ids=positions[None],
        ).logits
        return logits


def repeated(view: Any, num_canvases: int) -> Any:
    """Return a cache that shows one context to several canvases, without a copy."""
    if num_canvases == 1:
        return view
    shown = copy.copy(view)
    shown.layers = [copy.copy(layer) for layer in view.layers]
    for layer in shown.layers:
        layer.keys = layer.keys.expand(num_canvases, -1, -1, -1)
        layer.values = layer.values.expand(num_canvases, -1, -1, -1)
    return shown
