"""DiffusionGemma reads pictures too; we show it text alone, so that part is not kept."""

from typing import Any

from torch import nn


def leave_out_pictures(model: Any) -> None:
    """Let go of the vision weights (1.1 GB of the released model in bfloat16)."""
    encoder = model.model.encoder
    encoder.vision_tower, encoder.embed_vision = nn.Identity(), nn.Identity()
