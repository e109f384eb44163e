"""DiffusionGemma's shapes: the published one, and a toy with the same kinds of layers.

The sizes are those of google/diffusiongemma-26B-A4B-it; the defaults of transformers' config
classes are another model's. No pictures are read, so the vision part is a tiny placeholder.
"""

from collections.abc import Mapping
from typing import Any

from intarsia_research.model_cost.options import ShapeName

_PUBLISHED = {
    "vocab_size": 262_144,
    "hidden_size": 2816,
    "intermediate_size": 2112,
    "num_hidden_layers": 30,  # every sixth has full attention
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "global_head_dim": 512,
    "num_global_key_value_heads": 2,
    "sliding_window": 1024,
    "num_experts": 128,
    "top_k_experts": 8,
    "moe_intermediate_size": 704,
    "max_position_embeddings": 262_144,
}
_TOY = {
    "vocab_size": 512,
    "hidden_size": 64,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "layer_types": ["sliding_attention", "full_attention"],
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "global_head_dim": 32,
    "num_global_key_value_heads": 1,
    "sliding_window": 32,
    "num_experts": 16,
    "top_k_experts": 4,
    "moe_intermediate_size": 32,
    "max_position_embeddings": 262_144,
}
_SIZES: Mapping[str, Mapping[str, Any]] = {"published": _PUBLISHED, "toy": _TOY}


def gemma_config(shape: ShapeName) -> Any:
    """Return transformers' ``DiffusionGemmaConfig`` of a shape."""
    from transformers import DiffusionGemmaConfig, DiffusionGemmaTextConfig
    from transformers.models.gemma4 import Gemma4VisionConfig

    placeholder = Gemma4VisionConfig(
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=16,
        position_embedding_size=16,
    )
    return DiffusionGemmaConfig(
        text_config=DiffusionGemmaTextConfig(**_SIZES[shape]),
        vision_config=placeholder,
        canvas_length=256,
    )
