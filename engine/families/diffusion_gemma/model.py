"""DiffusionGemma as a family backbone: the encoder reads a context, the decoder predicts canvases.

Runs transformers' ``DiffusionGemmaForBlockDiffusion`` on token ids. Knows neither text nor the
denoising loop. It is tested against transformers' own ``generate`` on small random checkpoints; the
authors of this file did not run the released 26B weights.
"""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AttentionInterface, AttentionMaskInterface, Cache
from transformers.cache_utils import DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.families.device import Stopwatch
from intarsia.engine.families.protocol import (
    Prefilled,
    ReadingSpeed,
    common_prefix_length,
)
from intarsia.engine.fill_control import NO_CONTROL, FillControl


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


class WindowLayer(DynamicLayer):  # type: ignore[misc]
    """Keys and values of a layer with a sliding window: of the last one to two windows of tokens.

    What no later token sees is dropped, a half window at a time. The rest of what is kept is for
    contexts that are cut back: transformers' own layer keeps one window, and cannot be cut.
    """

    is_sliding = True
    keys: Tensor
    values: Tensor

    def __init__(self, window: int) -> None:
        super().__init__()
        self._window = window
        self._num_dropped = 0

    def update(self, keys: Tensor, values: Tensor, *args: Any, **options: Any) -> Any:
        """Append new ones; return all that a token of these may see."""
        seen = super().update(keys, values, *args, **options)
        if (num_more := self.keys.shape[-2] - 2 * self._window) > 0:
            num_old = num_more + self._window // 2
            # Copies: a view would hold on to the memory of what is dropped.
            self.keys = self.keys[..., num_old:, :].clone()
            self.values = self.values[..., num_old:, :].clone()
            self._num_dropped += num_old
        return seen

    def get_seq_length(self) -> int:
        """Return how many tokens were read, those that are dropped too."""
        return int(self._num_dropped + super().get_seq_length())

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the number of keys in a pass, and the position of the first."""
        return self.get_seq_length() - self._num_dropped + query_length, self._num_dropped

    def can_be_cut_to(self, num_tokens: int) -> bool:
        """Whether all is kept that the tokens after these see."""
        return self._num_dropped <= max(0, num_tokens - self._window + 1)


_CHUNK = 1024  # context tokens per pass; there is a checkpoint before each


class DiffusionGemmaBackbone:
    """Loaded weights with the keys and values of one context.

    The encoder's cache keeps every token in layers with full attention, and up to two windows of
    tokens in the others; its masks apply the window. The decoder has no mask: it gets a view that
    is trimmed to the window.
    """

    def __init__(self, model: Any) -> None:
        config = model.config.get_text_config()
        self.vocab_size: int = config.vocab_size
        self.canvas_length: int = model.config.canvas_length
        self.max_positions: int = config.max_position_embeddings
        self._model = model
        self.reading_speed = ReadingSpeed()
        self._layer_types: Sequence[str] = config.layer_types
        self._num_visible: list[int | None] = [
            config.sliding_window - 1 if kind == "sliding_attention" else None
            for kind in config.layer_types
        ]
        self.forget()

    @property
    def device(self) -> torch.device:
        device: torch.device = self._model.device
        return device

    def forget(self) -> None:
        self._context: list[int] = []
        windows = self._num_visible
        self._encoder_cache = Cache(
            layers=[DynamicLayer() if it is None else WindowLayer(it + 1) for it in windows]
        )
        self._view: Any = None  # of the cache, for the decoder

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Let other fills hold contexts of their own, without reuse; then restore this one."""
        context, cache = self._context, self._encoder_cache
        self.forget()
        yield
        self.forget()
        if context:
            self._context, self._encoder_cache = context, cache
            with torch.inference_mode():
                self._view = self._trim_to_window()

    def num_missing(self, context: Sequence[int]) -> int:
        """Return how many tokens of a context a prefill would compute. Changes nothing."""
        return len(context) - self._num_shared(context)

    def _num_shared(self, context: Sequence[int]) -> int:
        """Return how many tokens of what is held a context can go on from."""
        num_shared = common_prefix_length(self._context, context)
        layers = [it for it in self._encoder_cache.layers if isinstance(it, WindowLayer)]
        return num_shared if all(it.can_be_cut_to(num_shared) for it in layers) else 0

    @torch.inference_mode()
    def prefill(self, context: Sequence[int], control: FillControl = NO_CONTROL) -> Prefilled:
        """Hold a context; compute what the last does not share. Raises Cancelled between chunks."""
        if not context:
            raise ValueError("the context is empty: give it at least the begin-of-text token")
        num_shared = self._num_shared(context)
        self._view = None  # else the old keys would be held beside the new ones
        if num_shared == 0:
            self.forget()
        elif num_shared < len(self._context):
            self._encoder_cache.crop(num_shared - len(self._context))
        self._context = list(context[:num_shared])
        watch = Stopwatch(self.device)
        for start in range(num_shared, len(context), _CHUNK):
            control.checkpoint()
            with watch.lap():
                self._encode(context[start : start + _CHUNK])
        self.reading_speed.add(len(context) - num_shared, watch.seconds)
        self._view = self._trim_to_window()
        return Prefilled(num_reused=num_shared, num_computed=len(context) - num_shared)

    @torch.inference_mode()
    def predict(self, canvas: TokenCanvas, self_conditioning: Tensor | None) -> Tensor:
        """Return logits (length, vocab) of a canvas that follows the context."""
        if self_conditioning is not None:
            self_conditioning = self_conditioning[None]
        return self.predict_many(canvas.ids[None], self_conditioning)[0]

    @torch.inference_mode()
    def predict_many(
        self, ids: Tensor, self_conditioning: Tensor | None, lengths: Sequence[int] | None = None
    ) -> Tensor:
        """Return logits (canvases, length, vocab); each canvas sees the context alone.

        With ``lengths``, a canvas ends at its own: nothing in it sees what is after that.
        """
        if self_conditioning is not None:
            self_conditioning = self_conditioning.to(self._model.dtype)
        logits: Tensor = self._model(
            decoder_input_ids=ids,
            self_conditioning_logits=self_conditioning,
            past_key_values=repeated(self._view, len(ids)),
            decoder_position_ids=self._positions(len(self._context), ids.shape[1]),
            decoder_attention_mask=None if lengths is None else self._masks(ids, lengths),
        ).logits
        return logits

    def predict_each(self, canvases: Sequence[TokenCanvas]) -> list[Tensor]:
        """Return the logits (length, vocab) of canvases of any lengths, from one first pass."""
        lengths = [len(canvas) for canvas in canvases]
        ids = pad_sequence([canvas.ids for canvas in canvases], batch_first=True)
        are_alike = len(set(lengths)) == 1
        logits = self.predict_many(ids, None, None if are_alike else lengths)
        return [rows[:length] for rows, length in zip(logits, lengths, strict=True)]

    def _masks(self, ids: Tensor, lengths: Sequence[int]) -> dict[str, Tensor]:
        """Return for each kind of layer which keys a canvas sees, (canvases, 1, 1, keys)."""
        ends = torch.tensor(lengths, device=ids.device)[:, None]
        is_shown = torch.arange(ids.shape[1], device=ids.device) < ends
        kinds = dict(zip(self._layer_types, self._view.layers, strict=True))
        return {
            kind: F.pad(is_shown, (layer.keys.shape[-2], 0), value=True)[:, None, None]
            for kind, layer in kinds.items()
        }

    def cached_tokens(self) -> int:
        """Return the number of context tokens that are held."""
        return len(self._context)

    def _encode(self, ids: Sequence[int]) -> None:
        try:
            self._model.model.encoder(
                input_ids=torch.tensor([ids], dtype=torch.long, device=self.device),
                past_key_values=self._encoder_cache,
                position_ids=self._positions(len(self._context), len(ids)),
            )
        except BaseException:
            self.forget()  # half-written keys must not serve the next request
            raise
        self._context += ids

    def _positions(self, start: int, length: int) -> Tensor:
        return torch.arange(start, start + length, dtype=torch.int32, device=self.device)[None]

    def _trim_to_window(self) -> Any:
        view = copy.copy(self._encoder_cache)
        view.layers = [copy.copy(layer) for layer in self._encoder_cache.layers]
        for layer, num_visible in zip(view.layers, self._num_visible, strict=True):
            if num_visible is not None:
                layer.keys = layer.keys[..., -num_visible:, :]
                layer.values = layer.values[..., -num_visible:, :]
        return view


_NAME = "intarsia_folded"


def fold_heads(model: Any) -> None:
    """Install this attention in the decoder; the causal encoder keeps its own."""
    AttentionInterface.register(_NAME, _attend)
    AttentionMaskInterface.register(_NAME, sdpa_mask)
    model.config.get_text_config()._attn_implementation = _NAME


def folded_attention(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scale: float
) -> Tensor:
    """Return (canvases, query heads, length, width) for keys (canvases, key heads, seen, width).

    ``mask`` is bool (canvases or 1, 1, any, seen): True where a key is visible, to all queries.
    """
    num_canvases, _, length, width = queries.shape
    folded = queries.reshape(num_canvases, keys.shape[1], -1, width)
    if mask is not None:
        mask = mask[:, :, :1].expand(-1, -1, folded.shape[2], -1)
    out = F.scaled_dot_product_attention(folded, keys, values, attn_mask=mask, scale=scale)
    return out.reshape(num_canvases, -1, length, width)


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float,
    **options: Any,
) -> tuple[Tensor, None]:
    if module.is_causal:
        attended: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **options
        )
        return attended
    out = folded_attention(query, key, value, attention_mask, scaling)
    return out.transpose(1, 2).contiguous(), None
