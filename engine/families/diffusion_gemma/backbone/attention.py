"""Attention of DiffusionGemma's canvases: query heads that share keys become rows of one product.

Two to eight query heads share the same keys. With a mask or a wide head, torch's kernels need as
many key heads as query heads, so transformers copies the keys of the whole context in every layer
and pass. A canvas sees the same keys from every position and head. So its heads can be stacked as
further rows instead: the sums are the same, and nothing is copied.
"""

from typing import Any

import torch.nn.functional as F
from torch import Tensor

_NAME = "intarsia_folded"


def fold_heads(model: Any) -> None:
    """Install this attention in the decoder; the causal encoder keeps its own."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

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
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if module.is_causal:
        attended: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **options
        )
        return attended
    out = folded_attention(query, key, value, attention_mask, scaling)
    return out.transpose(1, 2).contiguous(), None
