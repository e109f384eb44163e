"""DiffusionGemma over a batch of holes, with gradients for what is added to it.

The same arithmetic as ``families/diffusion_gemma.py``, which runs one hole and keeps no gradients;
a test holds the two together. Knows no text.
"""

from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from intarsia.research.training.uniform_batch import UniformBatch


class UniformBackbone:
    """Frozen weights of transformers' ``DiffusionGemmaForBlockDiffusion``."""

    def __init__(self, model: Any) -> None:
        config = model.config.get_text_config()
        self.model = model.requires_grad_(False)
        self.vocab_size: int = config.vocab_size
        self.canvas_length: int = model.config.canvas_length
        self._num_visible: int = config.sliding_window - 1

    @property
    def device(self) -> torch.device:
        device: torch.device = self.model.device
        return device

    def read(self, batch: UniformBatch) -> Any:
        """Return the keys and values of the contexts."""
        cache = DynamicCache()
        # Padding stands behind a context, so no token of it sees any: causal masks are enough.
        positions = torch.arange(batch.context.shape[1], device=self.device)[None]
        self.model.model.encoder(
            input_ids=batch.context,
            position_ids=positions.expand_as(batch.context),
            past_key_values=cache,
        )
        return cache

    def hidden(
        self,
        batch: UniformBatch,
        read: Any,
        self_conditioning: Tensor | None,
        is_conditioned: Tensor | None,
    ) -> Tensor:
        """Run the noisy canvases; return hidden states (holes, length, hidden).

        ``self_conditioning`` (holes, length, vocab) goes to the holes of ``is_conditioned``
        (holes,) alone.
        """
        places = torch.arange(batch.noisy.shape[1], device=self.device)
        out = self.model.model.decoder(
            decoder_input_ids=batch.noisy,
            past_key_values=read,
            self_conditioning_logits=self_conditioning,
            self_conditioning_mask=is_conditioned,
            decoder_attention_mask=self._masks(batch),
            decoder_position_ids=batch.num_context[:, None] + places,
        )
        hidden: Tensor = out.last_hidden_state
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits (..., vocab), float32, of hidden states (..., hidden)."""
        limit: float = self.model.final_logit_softcapping
        logits: Tensor = self.model.lm_head(hidden).float()
        return torch.tanh(logits / limit) * limit

    def _masks(self, batch: UniformBatch) -> dict[str, Tensor]:
        """Return what a canvas sees, for both kinds of layers (holes, 1, length, context + length):
        its context, or the last of it, and all of itself."""
        places = torch.arange(batch.context.shape[1], device=self.device)
        is_context = places < batch.num_context[:, None]
        is_near = is_context & (places >= batch.num_context[:, None] - self._num_visible)
        own = torch.arange(batch.noisy.shape[1], device=self.device)
        is_own = own < batch.num_ids[:, None]
        return {
            "full_attention": self._mask(is_context, is_own),
            "sliding_attention": self._mask(is_near, is_own),
        }

    def _mask(self, is_seen: Tensor, is_own: Tensor) -> Tensor:
        visible = torch.cat([is_seen, is_own], dim=1)
        mask = torch.zeros(visible.shape, dtype=self.model.dtype, device=self.device)
        mask = mask.masked_fill_(~visible, -torch.inf)
        return mask[:, None, None].expand(-1, 1, is_own.shape[1], -1)
