"""Trains the drafter: from what the backbone has read, predict what it will write.

The backbone runs once over each text. At many places of it a block is drafted; the targets are the
backbone's own distributions, which the same pass yields. A row counts in full only where the text
before it is what the backbone would have written, as it is when the draft is verified.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.drafter import Drafter
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimIds
from intarsia.engine.families.masked_causal.backbone.rotary import rotate
from intarsia_research.training.batched_backbone import BatchedBackbone, UsedVocabulary, join_heads
from intarsia_research.training.low_rank_task import load_tensors
from intarsia_research.training.packed_holes import HoleIds, LaidOut, lay_out
from intarsia_research.training.train_loop import PassLoss
from intarsia_research.training.trainable_drafter import TrainableDrafter

_MIN_BEFORE = 8  # tokens of the text before a block


@dataclass(frozen=True, kw_only=True, slots=True)
class DrafterTaskOptions:
    """``num_blocks`` a text, first in the hole, then in the known text before it; ``num_rows`` of
    each. ``soft``: the share of the backbone's distribution in the target, beside its likeliest
    token. ``before_head``: the weight of the loss without the serial head, whose candidates those
    logits rank."""

    seed: int
    num_layers: int = 2
    num_rows: int = 7
    num_blocks: int = 96
    max_prefix: int = 640
    max_suffix: int = 200
    max_middle: int = 128
    soft: float = 0.5
    before_head: float = 0.4
    depth_weight: float = 0.9
    off_path_weight: float = 0.15
    hole_weight: float = 2.0


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Blocks:
    """Where blocks begin: the position of the newest token, which is known."""

    ids: Tensor  # (holes, length)
    starts: Tensor  # (holes, blocks)
    ends: Tensor  # (holes, blocks): of the text whose tokens may be targets; 0 for padding
    is_in_hole: Tensor  # (holes, blocks) bool


def spread_taps(num_layers: int) -> tuple[int, ...]:
    """Return after how many layers a backbone's rows are read: early, in the middle, and late."""
    taps = (round(num_layers * share) for share in (1 / 8, 1 / 2, 7 / 8))
    return tuple(sorted({min(max(1, tap), num_layers - 1) for tap in taps}))


class DrafterTask:
    """The drafter of a causal backbone (a TrainingTask)."""

    def __init__(
        self,
        backbone: BatchedBackbone,
        fim: FimIds,
        vocabulary: UsedVocabulary,
        drafted: Tensor,
        options: DrafterTaskOptions,
    ) -> None:
        self._taps = spread_taps(backbone.shape.num_layers)
        self._drafted = UsedVocabulary(backbone, drafted)
        module = TrainableDrafter(
            backbone.shape,
            backbone.weights,
            self._drafted.ids,
            num_layers=options.num_layers,
            num_rows=options.num_rows,
            taps=self._taps,
            seed=options.seed,
        )
        self.module = module.to(backbone.device)
        self._backbone, self._fim, self._options = backbone, fim, options
        self._vocabulary = vocabulary

    def start_from(self, path: Path) -> None:
        """Load a drafter's file; it may have drafted other tokens. Raises ModelError."""
        tensors = self.module.named_tensors()
        del tensors["vocabulary"]
        load_tensors(tensors, path)

    def save(self, path: Path, *, metadata: dict[str, str]) -> None:
        """Write the drafter."""
        self.module.save(path, metadata=metadata)

    def compute_loss(self, holes: Sequence[HoleIds], rng: random.Random) -> PassLoss:
        """Return the loss on blocks drawn over these holes."""
        predicted = self._predict(self._draw(holes, rng))
        return PassLoss(loss=predicted.loss, num_tokens=int(predicted.is_scored.sum()))

    def evaluate(
        self, batches: Sequence[Sequence[HoleIds]], rng: random.Random
    ) -> dict[str, float]:
        """Return the loss; of blocks in holes ``kept`` (tokens that the backbone accepts of a
        draft) and ``accuracy_0`` … (of rows behind accepted ones)."""
        losses, kept, num = [], 0.0, 0
        hits, rows = torch.zeros(self._options.num_rows), torch.zeros(self._options.num_rows)
        for holes in batches:
            found = self._predict(self._draw(holes, rng))
            losses.append(float(found.loss))
            counted = found.is_on_path & found.is_in_hole[..., None]
            right = (found.is_hit & counted).long().cumprod(-1)
            reached = torch.cat([torch.ones_like(right[..., :1]), right[..., :-1]], -1) * counted
            kept += float(right.sum())
            num += int(counted[..., 0].sum())
            hits += right.flatten(0, -2).sum(0).cpu()
            rows += reached.flatten(0, -2).sum(0).cpu()
        shares = (hits / rows.clamp(min=1)).tolist()
        return {
            "loss": sum(losses) / len(losses),
            "kept": kept / max(1, num),
            **{f"accuracy_{i}": share for i, share in enumerate(shares)},
        }

    def _draw(self, holes: Sequence[HoleIds], rng: random.Random) -> _Blocks:
        o = self._options
        texts = [
            lay_out(hole, self._fim, o.max_prefix, o.max_suffix, o.max_middle) for hole in holes
        ]
        length = max(len(text.ids) for text in texts)
        drawn = [self._places(text, rng) for text in texts]
        device = self._backbone.device

        def column(index: int) -> Tensor:
            return torch.tensor([[place[index] for place in places] for places in drawn]).to(device)

        ids = [[*text.ids, *[self._fim.end] * (length - len(text.ids))] for text in texts]
        return _Blocks(
            ids=torch.tensor(ids).to(device),
            starts=column(0),
            ends=column(1),
            is_in_hole=column(2).bool(),
        )

    def _places(self, text: LaidOut, rng: random.Random) -> list[tuple[int, int, int]]:
        """Return (start, end, whether it is in the hole) of each block; an end of 0 is padding."""
        end, num_blocks = len(text.ids), self._options.num_blocks
        first = text.prefix_start + _MIN_BEFORE
        parts = (
            (range(text.given_end, end - 1), end, 1),
            (range(text.context_end, text.given_end), end, 0),
            (range(first, text.prefix_end - 1), text.prefix_end, 0),
        )
        drawn: list[tuple[int, int, int]] = []
        for places, limit, is_in_hole in parts:
            num = min(len(places), num_blocks - len(drawn))
            drawn += [(place, limit, is_in_hole) for place in rng.sample(places, num)]
        return drawn + [(1, 0, 0)] * (num_blocks - len(drawn))

    def _predict(self, blocks: _Blocks) -> "_Predictions":
        backbone, options = self._backbone, self._options
        drafter = self.module.as_drafter(backbone.dtype, backbone.device)
        with torch.no_grad():
            states: list[Tensor] = []
            nothing = [None] * backbone.shape.num_layers
            last = backbone.forward_tuned(blocks.ids, nothing, states=states)
            taps = torch.stack([states[tap - 1] for tap in self._taps], dim=-2)
            del states
        depths = torch.arange(options.num_rows, device=backbone.device)
        own = blocks.starts[..., None] + depths  # (holes, blocks, rows): each row's own position
        is_scored = own + 1 < blocks.ends[..., None]
        own = own.clamp(max=blocks.ids.shape[1] - 2)
        tokens = blocks.ids.gather(1, own.flatten(1)).view_as(own)
        teacher = self._teach(last, blocks.ids, own, is_scored)
        hidden = self._run(drafter, taps, last, blocks, own)
        scored = hidden[is_scored]
        before_head = F.linear(scored, self._drafted.output)
        embedded = F.embedding(tokens[is_scored], backbone.weights.embed)
        logits = F.linear(drafter.head(scored, embedded), self._drafted.output)
        losses = teacher.cross_entropy(logits, options.soft)
        losses = losses + options.before_head * teacher.cross_entropy(before_head, options.soft)
        weights = options.depth_weight ** depths.float() * torch.where(
            teacher.is_on_path, 1.0, options.off_path_weight
        )
        weights = weights * torch.where(blocks.is_in_hole, options.hole_weight, 1.0)[..., None]
        weights = weights[is_scored] * (teacher.likeliest >= 0)
        is_hit = torch.zeros_like(is_scored)
        is_hit[is_scored] = logits.detach().argmax(-1) == teacher.likeliest
        return _Predictions(
            loss=(losses * weights).sum() / weights.sum() / (1 + options.before_head),
            is_hit=is_hit,
            is_scored=is_scored,
            is_on_path=teacher.is_on_path & is_scored,
            is_in_hole=blocks.is_in_hole,
        )

    @torch.no_grad()
    def _teach(self, last: Tensor, ids: Tensor, own: Tensor, is_scored: Tensor) -> "_Teacher":
        """Return what the backbone predicts after each row's own token."""
        length = ids.shape[1]
        holes = torch.arange(len(ids), device=ids.device)[:, None, None]
        rows = (holes * length + own)[is_scored]
        unique, inverse = torch.unique(rows, return_inverse=True)
        likeliest, shares = [], []
        for part in torch.split(last.flatten(0, 1)[unique], 4096):
            likeliest.append(
                self._vocabulary.ids[F.linear(part, self._vocabulary.output).argmax(-1)]
            )
            shares.append(F.linear(part, self._drafted.output).float().softmax(-1).to(last.dtype))
        found = torch.cat(likeliest)
        agrees = torch.zeros(ids.numel(), dtype=torch.bool, device=ids.device)
        following = ids.flatten()[(unique + 1).clamp(max=ids.numel() - 1)]
        agrees[unique] = found == following
        agreeing = agrees[(holes * length + own)] & is_scored
        before = torch.cat([torch.ones_like(agreeing[..., :1]), agreeing[..., :-1]], -1)
        return _Teacher(
            likeliest=self._drafted.indexes_of(found)[inverse],
            shares=torch.cat(shares)[inverse],
            is_on_path=before.long().cumprod(-1).bool(),
        )

    def _run(
        self, drafter: Drafter, taps: Tensor, last: Tensor, blocks: _Blocks, own: Tensor
    ) -> Tensor:
        """Return the hidden states (holes, blocks, rows, hidden) of all blocks."""
        backbone, shape = self._backbone, self._backbone.shape
        num_holes, num_blocks, num_rows = own.shape
        length = blocks.ids.shape[1]
        holes = torch.arange(num_holes, device=own.device)[:, None]
        newest = F.embedding(blocks.ids[holes, blocks.starts], backbone.weights.embed)
        x = drafter.block(newest, last[holes, blocks.starts - 1], num_rows).flatten(1, 2)
        text = backbone.turns(torch.arange(length, device=own.device))
        turns = backbone.turns(own.flatten(1)[:, None])
        sees_text = (
            torch.arange(length, device=own.device)
            < blocks.starts.repeat_interleave(num_rows, 1)[..., None]
        )
        row = torch.arange(num_blocks * num_rows, device=own.device)
        same = row[:, None] // num_rows == row // num_rows
        sees_rows = (same & (row[:, None] >= row)).expand(num_holes, -1, -1)
        visible = torch.cat([sees_text, sees_rows], -1)
        bias = torch.zeros(visible.shape, dtype=x.dtype, device=x.device)
        bias = bias.masked_fill_(~visible, -1e4)[:, None]
        dim, kv = shape.head_dim, shape.num_kv_heads
        read = drafter.read(taps).view(num_holes, length, len(drafter.layers), 2, kv, dim)
        for i, layer in enumerate(drafter.layers):
            k_text, v_text = read[:, :, i].permute(2, 0, 3, 1, 4)  # (holes, kv, length, dim) each
            q, k, v = backbone.qkv(x, layer, None, turns)
            keys = torch.cat([rotate(k_text, *text), k], dim=2)
            values = torch.cat([v_text, v], dim=2)
            groups = shape.num_groups
            attended = F.scaled_dot_product_attention(
                q,
                keys.repeat_interleave(groups, 1),
                values.repeat_interleave(groups, 1),
                attn_mask=bias,
            )
            x = x + F.linear(join_heads(attended), layer.o)
            x = x + backbone.feed_forward(x, layer, None)
        return backbone.norm(x, drafter.norm).view(num_holes, num_blocks, num_rows, -1)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Predictions:
    """The loss, and what is known of each row (holes, blocks, rows)."""

    loss: Tensor  # ()
    is_hit: Tensor
    is_scored: Tensor
    is_on_path: Tensor
    is_in_hole: Tensor  # (holes, blocks)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Teacher:
    """What the backbone predicts after the scored rows."""

    likeliest: Tensor  # (scored,): index in the drafted tokens, -1 for another token
    shares: Tensor  # (scored, drafted): its distribution over the drafted tokens
    is_on_path: Tensor  # (holes, blocks, rows): it would have written the text up to the row

    def cross_entropy(self, logits: Tensor, soft: float) -> Tensor:
        """Return the cross entropy of each row, (scored,)."""
        log_p = F.log_softmax(logits.float(), dim=-1)
        hard = -log_p.gather(-1, self.likeliest.clamp(min=0)[:, None]).squeeze(-1)
        taught = -(self.shares * log_p).sum(-1)
        return soft * taught + (1 - soft) * hard
