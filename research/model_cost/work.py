"""Compute the least work of a DiffusionGemma pass: bytes to move and operations to do.

Each weight counts once for all rows, an expert only if a row is routed to it, and the context's
keys and values once for all canvases. Further copies of an implementation do not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """Bytes to read or write, and floating-point operations."""

    bytes: int
    flops: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerSizes:
    """One layer: bytes in the format of its weights, numbers of weights a row is multiplied by."""

    expert_bytes: int  # of one expert
    other_bytes: int
    numbers_a_row: int  # the active experts included
    kv_bytes_a_token: int
    attention_width: int  # query heads × head width
    window: int | None  # visible context tokens; None: all


@dataclass(frozen=True, kw_only=True, slots=True)
class GemmaSizes:
    """All sizes that the work of a pass depends on."""

    layers: tuple[LayerSizes, ...]
    num_experts: int
    embed_bytes: int
    embed_numbers: int
    conditioning_bytes: int  # of the self-conditioning layers
    conditioning_numbers: int
    vocab_size: int
    row_bytes: int  # of one logit for self-conditioning


def read_sizes(model: Any) -> GemmaSizes:
    """Read the sizes of a loaded model, quantised or not."""
    config = model.config.get_text_config()
    decoder = model.model.decoder
    item = decoder.embed_tokens.weight.element_size()
    conditioning = decoder.self_conditioning
    return GemmaSizes(
        layers=tuple(
            _layer(layer, number, config, item) for number, layer in enumerate(decoder.layers)
        ),
        num_experts=config.num_experts,
        embed_bytes=decoder.embed_tokens.weight.nbytes,
        embed_numbers=decoder.embed_tokens.weight.numel(),
        conditioning_bytes=_bytes_of(conditioning),
        conditioning_numbers=sum(p.numel() for p in conditioning.parameters()),
        vocab_size=config.vocab_size,
        row_bytes=item,
    )


def pass_work(
    sizes: GemmaSizes, *, canvas: int, batch: int, context: int, touched: Sequence[int]
) -> Work:
    """Return the work of a pass over canvases with self-conditioning.

    ``touched``: the number of active experts of each layer.
    """
    rows = canvas * batch
    num_bytes = 2 * sizes.embed_bytes + sizes.conditioning_bytes  # soft embeddings, and output
    num_bytes += rows * sizes.vocab_size * (sizes.row_bytes + 4)  # logits in, float32 logits out
    flops = 2 * rows * (2 * sizes.embed_numbers + sizes.conditioning_numbers)
    for layer, num_touched in zip(sizes.layers, touched, strict=True):
        visible = context if layer.window is None else min(context, layer.window)
        num_bytes += layer.other_bytes + num_touched * layer.expert_bytes
        num_bytes += (visible + rows) * layer.kv_bytes_a_token
        flops += 2 * rows * layer.numbers_a_row
        flops += 4 * rows * (visible + canvas) * layer.attention_width
    return Work(bytes=num_bytes, flops=flops)


def prefill_work(sizes: GemmaSizes, *, context: int, chunk: int) -> Work:
    """Return the work of reading a context in chunks; each chunk reads all weights again."""
    num_bytes = flops = 0
    for start in range(0, context, chunk):
        rows = min(chunk, context - start)
        for layer in sizes.layers:
            visible = start if layer.window is None else min(start, layer.window)
            num_bytes += layer.other_bytes + sizes.num_experts * layer.expert_bytes
            num_bytes += (visible + rows) * layer.kv_bytes_a_token
            flops += 2 * rows * layer.numbers_a_row
            flops += 4 * rows * (visible + rows // 2) * layer.attention_width
    return Work(bytes=num_bytes, flops=flops)


def _layer(layer: nn.Module, number: int, config: Any, item: int) -> LayerSizes:
    own = config.per_layer_config[number]
    is_sliding = config.layer_types[number] == "sliding_attention"
    width, kv_width = (
        config.num_attention_heads * own.head_dim,
        own.num_key_value_heads * own.head_dim,
    )
    num_kv_products = 2 if is_sliding else 1  # full layers take their values from the keys
    experts = _bytes_of(layer.get_submodule("experts"))
    one_expert = 3 * config.moe_intermediate_size
    a_hidden = (
        2 * width
        + num_kv_products * kv_width
        + 3 * config.intermediate_size
        + config.num_experts
        + config.top_k_experts * one_expert
    )
    return LayerSizes(
        expert_bytes=experts // config.num_experts,
        other_bytes=_bytes_of(layer) - experts,
        numbers_a_row=config.hidden_size * a_hidden,
        kv_bytes_a_token=2 * kv_width * item,
        attention_width=width,
        window=config.sliding_window - 1 if is_sliding else None,
    )


def _bytes_of(module: nn.Module) -> int:
    tensors = [*module.parameters(), *module.buffers()]
    return sum(tensor.nbytes for tensor in tensors)
