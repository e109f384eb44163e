"""A causal backbone whose canvas rows see each other, with low-rank changes on these rows alone.

The context is read as by the backbone itself, so its keys and values serve both. A canvas holds
noise instead of masks (uniform-state diffusion, arXiv 2107.03006).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.tuning import LowRankLayer
from intarsia_research.training.batched_backbone import BatchedBackbone, join_heads, linear
from intarsia_research.training.low_rank_modules import random_matrix
from intarsia_research.training.low_rank_task import load_tensors, stored_rank
from intarsia_research.training.tuning_task import LowRankPairs
from intarsia_research.training.uniform_causal_rows import IGNORED, CanvasRows

PAD = "<|fim_pad|>"
"""Qwen2.5's token for what follows the end of a hole."""

_CONDITIONING_RANK = 128
_HIDDEN_BIAS = -1e4  # not -inf: rows of padding would see nothing, and have NaN gradients


class UniformChanges(nn.Module):
    """What makes canvas rows denoise: low-rank pairs, and what reads the last step's prediction.

    Both begin as no change.
    """

    def __init__(self, shape: BackboneShape, *, rank: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.pairs = LowRankPairs(shape, rank=rank, generator=generator)
        self.conditioning_down = random_matrix(_CONDITIONING_RANK, shape.hidden, generator)
        self.conditioning_up = nn.Parameter(torch.zeros(shape.hidden, _CONDITIONING_RANK))

    def named_tensors(self) -> dict[str, Tensor]:
        """Return all tensors by their names in the file."""
        return {
            **self.pairs.named_tensors(),
            "conditioning.down": self.conditioning_down,
            "conditioning.up": self.conditioning_up,
        }

    def conditioned(self, embedded: Tensor, predicted: Tensor) -> Tensor:
        """Return the rows' embeddings with the mean embedding of what was predicted for them.

        Both are (holes, rows, hidden); a row of zeros was not predicted.
        """
        dtype = embedded.dtype
        inner = F.silu(F.linear(predicted, self.conditioning_down.to(dtype)))
        return embedded + F.linear(inner, self.conditioning_up.to(dtype))

    @classmethod
    def read(cls, path: Path, shape: BackboneShape) -> Self:
        """Read what a training wrote. Raises ModelError."""
        changes = cls(shape, rank=stored_rank(path), seed=0)
        load_tensors(changes.named_tensors(), path)
        return changes.requires_grad_(False)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ReadContexts:
    """Keys and values of each layer, (holes, kv heads, length, head_dim) each, rotated, and how
    many tokens of each hole there are, (holes,) long; padding follows them."""

    layers: Sequence[tuple[Tensor, Tensor]]
    num: Tensor

    def chosen(self, holes: Tensor) -> "ReadContexts":
        """Return the contexts of these holes, (chosen,) long."""
        layers = [(k[holes], v[holes]) for k, v in self.layers]
        return ReadContexts(layers=layers, num=self.num[holes])


class UniformCausalBackbone(BatchedBackbone):
    """Reads contexts causally, and canvases both ways."""

    @torch.no_grad()
    def prefill(self, contexts: Sequence[Sequence[int]]) -> ReadContexts:
        """Read the contexts, without changes to the weights."""
        length = max(map(len, contexts))
        padded = [[*ids, *[0] * (length - len(ids))] for ids in contexts]
        ids = torch.tensor(padded, device=self.device)
        layers: list[tuple[Tensor, Tensor]] = []
        # padding comes last, so causality hides it
        self.forward_tuned(ids, [None] * self.shape.num_layers, keys_values=layers)
        num = torch.tensor([len(ids) for ids in contexts], device=self.device)
        return ReadContexts(layers=layers, num=num)

    def forward_rows(
        self,
        rows: CanvasRows,
        contexts: ReadContexts,
        changes: UniformChanges | None,
        predicted: Tensor | None = None,
    ) -> Tensor:
        """Return the rows' hidden states (holes, rows, hidden).

        With ``changes`` a row sees its whole canvas, without them what is before it, as the
        backbone itself does. ``predicted`` (holes, rows, hidden): the mean embedding of what the
        step before predicted for each row.
        """
        x = F.embedding(rows.ids, self.weights.embed)
        pairs: Sequence[LowRankLayer | None] = [None] * self.shape.num_layers
        if changes is not None:
            pairs = changes.pairs.as_layers(self.dtype)
            if predicted is not None:
                x = changes.conditioned(x, predicted)
        turns = self.turns(rows.positions[:, None])
        bias = self._bias(rows, contexts, is_causal=changes is None)
        groups = self.shape.num_groups
        read = zip(self.weights.layers, pairs, contexts.layers, strict=True)
        for layer, pair, (context_keys, context_values) in read:
            q, k, v = self.qkv(x, layer, pair["qkv"] if pair else None, turns)
            keys = torch.cat([context_keys, k], dim=2)
            values = torch.cat([context_values, v], dim=2)
            with sdpa_kernel(self._attention):
                attended = F.scaled_dot_product_attention(
                    q,
                    keys.repeat_interleave(groups, 1),
                    values.repeat_interleave(groups, 1),
                    attn_mask=bias,
                )
            x = x + linear(join_heads(attended), layer.o, None, pair["o"] if pair else None)
            x = x + self.feed_forward(x, layer, pair)
        return self.norm(x, self.weights.norm)

    @property
    def _attention(self) -> list[SDPBackend]:
        """What may compute attention. On cards (torch 2.11, H100 and H200) the kernel that torch
        chose gave gradients under such a bias that are no numbers; the plain one does not."""
        plain = [SDPBackend.MATH]
        return plain if self.device.type == "cuda" else [SDPBackend.FLASH_ATTENTION, *plain]

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the float32 logits (…, vocab) of hidden states (…, hidden)."""
        return F.linear(hidden, self.weights.output).float()

    def mean_of(self, probabilities: Tensor) -> Tensor:
        """Return the mean embedding (…, hidden) under probabilities (…, vocab), in units of a usual
        embedding: the less certain a prediction, the shorter it is."""
        mean: Tensor = probabilities.to(self.dtype) @ self.weights.embed
        return mean * self._per_embedding

    @cached_property
    def _per_embedding(self) -> float:
        return 1 / float(self.weights.embed.float().square().mean().sqrt())

    def _bias(self, rows: CanvasRows, contexts: ReadContexts, *, is_causal: bool) -> Tensor:
        """Return what attention adds (holes, 1, rows, context + rows)."""
        length = contexts.layers[0][0].shape[2]
        sees_context = torch.arange(length, device=self.device) < contexts.num[:, None]
        same = rows.canvas[:, :, None] == rows.canvas[:, None, :]
        sees_rows = same & (rows.canvas != IGNORED)[:, None, :]
        if is_causal:
            sees_rows &= rows.positions[:, :, None] >= rows.positions[:, None, :]
        visible = torch.cat(
            [sees_context[:, None].expand(-1, rows.ids.shape[1], -1), sees_rows], dim=-1
        )
        bias = torch.zeros(visible.shape, dtype=self.dtype, device=self.device)
        return bias.masked_fill_(~visible, _HIDDEN_BIAS)[:, None]
