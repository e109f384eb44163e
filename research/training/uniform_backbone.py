"""DiffusionGemma over a batch of holes, with gradients for the trained weights only.

It computes what the engine's ``diffusion_gemma/model.py`` computes for one hole, without
gradients; a test compares the two. Knows no text.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import choose_device, choose_dtype
from intarsia.engine.families.diffusion_gemma.load import LoadedGemma, load_gemma
from intarsia.engine.model_store.locate import ModelFolder
from intarsia_research.training.batched_backbone import ReportProgress
from intarsia_research.training.uniform_canvas import UniformBatch


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

    def prefill(self, batch: UniformBatch) -> Any:
        """Run the encoder over the contexts; return their keys and values."""
        cache = DynamicCache()
        # Padding comes after a context, so causal masks already hide it from every context token.
        positions = torch.arange(batch.context.shape[1], device=self.device)[None]
        self.model.model.encoder(
            input_ids=batch.context,
            position_ids=positions.expand_as(batch.context),
            past_key_values=cache,
        )
        return cache

    def forward(
        self,
        batch: UniformBatch,
        keys_values: Any,
        self_conditioning: Tensor | None,
        is_conditioned: Tensor | None,
    ) -> Tensor:
        """Run the noisy canvases; return hidden states (holes, length, hidden).

        Only holes where ``is_conditioned`` (holes,) is true get ``self_conditioning``
        (holes, length, vocab).
        """
        positions = torch.arange(batch.noisy.shape[1], device=self.device)
        out = self.model.model.decoder(
            decoder_input_ids=batch.noisy,
            past_key_values=keys_values,
            self_conditioning_logits=self_conditioning,
            self_conditioning_mask=is_conditioned,
            decoder_attention_mask=self._masks(batch),
            decoder_position_ids=batch.num_context[:, None] + positions,
        )
        hidden: Tensor = out.last_hidden_state
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the float32 logits (..., vocab) of hidden states (..., hidden)."""
        limit: float = self.model.final_logit_softcapping
        logits: Tensor = self.model.lm_head(hidden).float()
        return torch.tanh(logits / limit) * limit

    def _masks(self, batch: UniformBatch) -> dict[str, Tensor]:
        """Return the attention masks of both kinds of layers (holes, 1, length, context + length).

        A canvas sees itself and its context, or the end of it in a sliding window.
        """
        positions = torch.arange(batch.context.shape[1], device=self.device)
        is_context = positions < batch.num_context[:, None]
        is_near = is_context & (positions >= batch.num_context[:, None] - self._num_visible)
        own = torch.arange(batch.noisy.shape[1], device=self.device)
        is_own = own < batch.num_ids[:, None]
        return {
            "full_attention": self._mask(is_context, is_own),
            "sliding_attention": self._mask(is_near, is_own),
        }

    def _mask(self, is_visible: Tensor, is_own: Tensor) -> Tensor:
        visible = torch.cat([is_visible, is_own], dim=1)
        mask = torch.zeros(visible.shape, dtype=self.model.dtype, device=self.device)
        mask = mask.masked_fill_(~visible, -torch.inf)
        return mask[:, None, None].expand(-1, 1, is_own.shape[1], -1)


def load_uniform(
    folder: ModelFolder,
    on_progress: ReportProgress,
    *,
    tuning: Path | None = None,
) -> LoadedGemma:
    """Load a model of the DiffusionGemma family, with the tunings its name and ``tuning`` give.

    Raises ModelError.
    """
    if folder.family != "diffusion_gemma":
        raise ModelError(f"{folder.name} is not a DiffusionGemma: its training differs")
    on_progress(f"loading {folder.name}", None)
    device = choose_device("auto")
    return load_gemma(
        folder.path,
        device=device,
        dtype=choose_dtype("auto", device),
        tunings=(*folder.tunings, *([tuning] if tuning else [])),
    )
