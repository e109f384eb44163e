"""Attention of DiffusionGemma's canvases: query heads that share keys are rows of one product.

Two to eight query heads look at the same keys. torch's kernels want as many key heads as query
heads where there is a mask or a wide head, and transformers copies the keys so often, all of the
context in every layer and pass. A canvas sees the same keys from every position and head, so its
heads can stand below each other instead: the same sums, and nothing is copied.
"""

from typing import Any

import torch.nn.functional as F
from torch import Tensor

_NAME = "intarsia_folded"


def fold_heads(model: Any) -> None:
    """Let the decoder attend so; the encoder, which looks back only, goes on as it did."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(_NAME, _attend)
    AttentionMaskInterface.register(_NAME, sdpa_mask)
    model.config.get_text_config()._attn_implementation = _NAME


def folded_attention(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scale: float
) -> Tensor:
    """Return (canvases, query heads, length, width), of keys (canvases, key heads, seen, width).

    ``mask`` (canvases or 1, 1, any, seen) bool, True where a key is seen, alike from everywhere.
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
    **words: Any,
) -> tuple[Tensor, None]:
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if module.is_causal:
        attended: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **words
        )
        return attended
    out = folded_attention(query, key, value, attention_mask, scaling)
    return out.transpose(1, 2).contiguous(), None
