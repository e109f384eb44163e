"""DiffusionGemma as a family backbone: the encoder reads a context, the decoder predicts canvases.

Runs transformers' ``DiffusionGemmaForBlockDiffusion`` on token ids. Knows neither text nor the
denoising loop. It is tested against transformers' own ``generate`` on small random checkpoints; the
authors of this file did not run the released 26B weights.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.families.device import synchronize
from intarsia.engine.families.diffusion_gemma.canvas_graph import (
    CanvasGraph,
    Record,
    record_on_card,
)
from intarsia.engine.families.diffusion_gemma.kv_cache import (
    copied,
    new_cache,
    num_shared,
    repeated,
)
from intarsia.engine.families.protocol import Prefilled, ReadingSpeed, Stopwatch
from intarsia.engine.fill_control import NO_CONTROL, FillControl


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Reading:
    """Ids that the encoder has read beside the held context."""

    ids: Sequence[int]
    cache: Any  # transformers' Cache
    first: int
    hidden: Tensor  # (tokens, width) of ids[first:]

    def rows_before(self, start: int, end: int) -> Tensor:
        """Return the hidden states (end - start, width) that predict ids[start:end]."""
        return self.hidden[start - 1 - self.first : end - 1 - self.first]


_CHUNK = 1024  # context tokens per pass; there is a checkpoint before each
_CHECKED = 16  # tokens of the context and of the canvas that compare a CUDA graph with a pass
_ROWS = 64  # of logits at once: 64 MiB of the released vocabulary


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
        self._graph: CanvasGraph | None = None
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
        self._encoder_cache = new_cache(self._num_visible)
        self._show(None)

    def _show(self, view: Any) -> None:
        """Show the decoder this view of the cache; a graph holds the addresses of the last one."""
        self._view: Any = view
        self.forget_graph()

    @torch.inference_mode()
    def use_graphs(self, record: Record = record_on_card) -> None:
        """Replay passes as CUDA graphs from now on, if that is the same as making them."""
        graph = CanvasGraph(self.predict_many, record)
        self.prefill([0] * _CHECKED)
        graph.check(self.vocab_size, self.device, min(_CHECKED, self.canvas_length))
        self.forget()
        self._graph = graph

    def forget_graph(self) -> None:
        """Let go of the recorded pass: its memory is needed only while a canvas is denoised."""
        if self._graph is not None:
            self._graph.forget()

    @property
    def notes(self) -> tuple[str, ...]:
        """The status's words about the passes."""
        if self._graph is None:
            return ()
        fault = self._graph.fault
        return ("passes: as CUDA graphs" if fault is None else f"no CUDA graphs: {fault}",)

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
                self._show(self._trim_to_window())

    def num_missing(self, context: Sequence[int]) -> int:
        """Return how many tokens of a context a prefill would compute. Changes nothing."""
        return len(context) - num_shared(self._context, self._encoder_cache, context, len(context))

    @torch.inference_mode()
    def prefill(self, context: Sequence[int], control: FillControl = NO_CONTROL) -> Prefilled:
        """Hold a context; compute what the last does not share. Raises Cancelled between chunks."""
        if not context:
            raise ValueError("the context is empty: give it at least the begin-of-text token")
        num_reused = len(context) - self.num_missing(context)
        if self._view is not None and len(self._context) == len(context) == num_reused:
            return Prefilled(num_reused=num_reused, num_computed=0)
        self._show(None)  # else the old keys would be held beside the new ones
        if num_reused == 0:
            self.forget()
        elif num_reused < len(self._context):
            self._encoder_cache.crop(num_reused - len(self._context))
        self._context = list(context[:num_reused])
        watch = Stopwatch(partial(synchronize, self.device))
        for start in range(num_reused, len(context), _CHUNK):
            control.checkpoint()
            with watch.lap():
                self._encode(context[start : start + _CHUNK])
        self.reading_speed.add(len(context) - num_reused, watch.seconds)
        self._show(self._trim_to_window())
        return Prefilled(num_reused=num_reused, num_computed=len(context) - num_reused)

    @torch.inference_mode()
    def predict(self, canvas: TokenCanvas, self_conditioning: Tensor | None) -> Tensor:
        """Return logits (length, vocab) of a canvas that follows the context."""
        ids = canvas.ids[None]
        if self_conditioning is None:
            return self.predict_many(ids, None)[0]
        predict = self._graph or self.predict_many
        return predict(ids, self_conditioning[None].to(self._model.dtype))[0]

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

    @torch.inference_mode()
    def read(
        self,
        ids: Sequence[int],
        first: int,
        control: FillControl = NO_CONTROL,
        after: Reading | None = None,
    ) -> Reading:
        """Read ids and leave the held context as it is; hidden states are those of ids[first:].

        What is held or was read ``after`` another reading is not read again. Raises Cancelled
        between chunks; whatever runs at the control's checkpoints may change what is held.
        """
        known: list[tuple[Sequence[int], Any]] = [(self._context, self._encoder_cache)]
        if after is not None:
            known.append((after.ids, after.cache))
        nums = [num_shared(held, cache, ids, first) for held, cache in known]
        start = max(nums)
        held, cache = known[nums.index(start)]
        cache = (
            copied(cache, num_removed=len(held) - start) if start else new_cache(self._num_visible)
        )
        hidden = []
        for at in range(start, len(ids), _CHUNK):
            control.checkpoint()
            rows = self._encoder_pass(ids[at : at + _CHUNK], at, cache)
            hidden.append(rows[max(0, first - at) :])
        return Reading(ids=ids, cache=cache, first=first, hidden=torch.cat(hidden))

    @torch.inference_mode()
    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits (tokens, vocab), float32, of the token after each of the encoder's hidden
        states (tokens, width): encoder and output matrix are a causal language model."""
        cap: float = self._model.final_logit_softcapping
        logits: Tensor = self._model.lm_head(hidden).float()
        return torch.tanh(logits / cap) * cap

    @torch.inference_mode()
    def log_probabilities(self, hidden: Tensor, ids: Sequence[int]) -> Tensor:
        """Return the log-probability (tokens,) of each id, predicted by its hidden state."""
        found = [hidden.new_zeros(0, dtype=torch.float32)]
        targets = torch.tensor(ids, dtype=torch.long, device=hidden.device)
        parts = zip(torch.split(hidden, _ROWS), torch.split(targets, _ROWS), strict=True)
        for rows, own in parts:
            log_p = torch.log_softmax(self.logits(rows), dim=-1)
            found.append(log_p.gather(-1, own[:, None])[:, 0])
        return torch.cat(found)

    def cached_tokens(self) -> int:
        """Return the number of context tokens that are held."""
        return len(self._context)

    def _encode(self, ids: Sequence[int]) -> None:
        try:
            self._encoder_pass(ids, len(self._context), self._encoder_cache)
        except BaseException:
            self.forget()  # half-written keys must not serve the next request
            raise
        self._context += ids

    def _encoder_pass(self, ids: Sequence[int], start: int, cache: Any) -> Tensor:
        """Add ids to a cache of ``start`` tokens; return their hidden states (tokens, width)."""
        hidden: Tensor = self._model.model.encoder(
            input_ids=torch.tensor([ids], dtype=torch.long, device=self.device),
            past_key_values=cache,
            position_ids=self._positions(start, len(ids)),
        ).last_hidden_state[0]
        return hidden

    def _positions(self, start: int, length: int) -> Tensor:
        return torch.arange(start, start + length, dtype=torch.int32, device=self.device)[None]

    def _trim_to_window(self) -> Any:
        view = copied(self._encoder_cache)
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
