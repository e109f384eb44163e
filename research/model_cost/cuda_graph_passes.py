"""Run DiffusionGemma's decoder passes with fixed shapes, so that CUDA graphs can capture them.

Keys and values are in buffers of a fixed length, and a mask hides the unused part. So a pass of one
canvas length is captured once and replayed for every step of every hole: one launch instead of
thousands of small kernels. Without capture the same code runs on any device.
"""

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.backbone.passes import repeated

_SMALLEST = 1024  # tokens of a bucket
_MULTIPLE = 64  # tokens; attention kernels are fastest at round lengths
_NUM_WARM_UPS = 3


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Inputs:
    """The buffers that a captured pass reads; written before each run."""

    ids: Tensor  # (canvases, length) long
    self_conditioning: Tensor  # (canvases, length, vocab)
    has_self_conditioning: Tensor  # (canvases,) bool


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Captured:
    graph: Any  # torch.cuda.CUDAGraph
    logits: Tensor


class FixedShapePasses:
    """Passes over padded contexts (the DecoderPasses protocol).

    The buffers start at ``smallest`` tokens, double when a context is longer, and never shrink.
    After they have grown, passes are captured again.
    """

    def __init__(self, model: Any, *, has_graphs: bool, smallest: int = _SMALLEST) -> None:
        """Raises ModelError if ``has_graphs`` and the model is not on an NVIDIA GPU."""
        if has_graphs and model.device.type != "cuda":
            raise ModelError(f"graphs need an NVIDIA GPU, and the model is on {model.device.type}")
        self._model = model
        self._has_graphs = has_graphs
        config = model.config.get_text_config()
        self._kinds: list[str] = config.layer_types
        self._window: int = config.sliding_window - 1
        self._vocab_size: int = config.vocab_size
        self._smallest = smallest
        self._num_context = torch.zeros((), dtype=torch.int32, device=model.device)
        self._bucket = 0
        self._padded: Any = None
        self._inputs: dict[tuple[int, int], _Inputs] = {}
        self._captured: dict[tuple[int, int], _Captured] = {}
        # passes of all shapes share one memory pool: they run one after the other
        self._pool = torch.cuda.graph_pool_handle() if has_graphs else None

    def hold(self, view: Any, num_context: int) -> None:
        self._reserve(view, num_context)
        for padded, layer in zip(self._padded.layers, view.layers, strict=True):
            length = layer.keys.shape[-2]
            padded.keys[..., :length, :].copy_(layer.keys)
            padded.values[..., :length, :].copy_(layer.values)
            # old numbers after a shorter context stay: the mask hides them
        self._num_context.fill_(num_context)

    def release(self) -> None:
        """Do nothing: captured passes read the buffers."""

    def run(self, ids: Tensor, self_conditioning: Tensor | None) -> Tensor:
        inputs = self._write_inputs(ids, self_conditioning)
        if not self._has_graphs:
            return self._pass(inputs)
        shape = (ids.shape[0], ids.shape[1])
        if shape not in self._captured:
            self._captured[shape] = self._capture(inputs)
        captured = self._captured[shape]
        captured.graph.replay()
        return captured.logits

    def _reserve(self, view: Any, num_context: int) -> None:
        bucket = max(self._bucket, self._smallest)
        while bucket < num_context:
            bucket *= 2
        if bucket == self._bucket:
            return
        self._captured.clear()
        self._padded, self._bucket = None, bucket  # free the old buffers before the new ones
        padded = copy.copy(view)
        padded.layers = [copy.copy(layer) for layer in view.layers]
        for layer, kind in zip(padded.layers, self._kinds, strict=True):
            length = self._length_of(kind)
            layer.keys = _zeros_like(layer.keys, length)
            layer.values = _zeros_like(layer.values, length)
        self._padded = padded

    def _length_of(self, kind: str) -> int:
        """Return the number of context tokens that fit in a layer's buffer."""
        if kind != "sliding_attention":
            return self._bucket
        return min(self._bucket, -(-self._window // _MULTIPLE) * _MULTIPLE)

    def _write_inputs(self, ids: Tensor, self_conditioning: Tensor | None) -> _Inputs:
        shape = (ids.shape[0], ids.shape[1])
        if shape not in self._inputs:
            self._inputs[shape] = self._new_inputs(*shape)
        inputs = self._inputs[shape]
        inputs.ids.copy_(ids)
        inputs.has_self_conditioning.fill_(self_conditioning is not None)
        if self_conditioning is not None:
            inputs.self_conditioning.copy_(self_conditioning)
        return inputs

    def _new_inputs(self, num_canvases: int, length: int) -> _Inputs:
        shape, device = (num_canvases, length), self._model.device
        return _Inputs(
            ids=torch.zeros(shape, dtype=torch.long, device=device),
            self_conditioning=torch.zeros(
                *shape, self._vocab_size, dtype=self._model.dtype, device=device
            ),
            has_self_conditioning=torch.zeros(num_canvases, dtype=torch.bool, device=device),
        )

    def _pass(self, inputs: _Inputs) -> Tensor:
        num_canvases, length = inputs.ids.shape
        offsets = torch.arange(length, dtype=torch.int32, device=inputs.ids.device)
        logits: Tensor = self._model(
            decoder_input_ids=inputs.ids,
            self_conditioning_logits=inputs.self_conditioning,
            self_conditioning_mask=inputs.has_self_conditioning,
            past_key_values=repeated(self._padded, num_canvases),
            decoder_attention_mask={kind: self._mask(kind, length) for kind in {*self._kinds}},
            decoder_position_ids=(self._num_context + offsets)[None],
        ).logits
        return logits

    def _mask(self, kind: str, length: int) -> Tensor:
        """Return which keys are visible, (1, 1, length, keys) bool: those that are filled, and the
        canvas, which comes after the buffer."""
        capacity = self._length_of(kind)
        num_visible = self._num_context
        if kind == "sliding_attention":
            num_visible = num_visible.clamp(max=self._window)
        keys = torch.arange(capacity + length, dtype=torch.int32, device=num_visible.device)
        return ((keys < num_visible) | (keys >= capacity)).expand(1, 1, length, -1)

    def _capture(self, inputs: _Inputs) -> _Captured:
        """Run until kernels are chosen and workspaces allocated, then record one more run."""
        stream = torch.cuda.Stream(device=self._model.device)  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_NUM_WARM_UPS):
                self._pass(inputs)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            logits = self._pass(inputs)
        return _Captured(graph=graph, logits=logits)


def _zeros_like(keys: Tensor, length: int) -> Tensor:
    num_canvases, num_heads, _, width = keys.shape
    return keys.new_zeros(num_canvases, num_heads, length, width)
