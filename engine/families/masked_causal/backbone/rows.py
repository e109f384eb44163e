"""Build the rows of a pass, which follow ``start`` tokens: ids, positions, attention masks."""

from collections.abc import Sequence

import torch

from intarsia.engine.families.masked_causal.backbone.interface import Rows


def frozen_rows(
    tokens: Sequence[int], *, start: int, device: torch.device, num_hidden: int | None = None
) -> Rows:
    """Return causal rows of known tokens; the last ``num_hidden`` give hidden states, or all."""
    num = len(tokens)
    return Rows(
        ids=torch.tensor(tokens, dtype=torch.long, device=device),
        positions=torch.arange(start, start + num, device=device),
        num_frozen=num,
        visible=torch.ones(num, start + num, dtype=torch.bool, device=device).tril(start),
        num_hidden=num_hidden,
    )


def outcome_rows(
    tokens: Sequence[int],
    masks: Sequence[int],
    *,
    start: int,
    mask_id: int,
    device: torch.device,
) -> Rows:
    """Return the rows of a speculative pass: a draft to verify, and masks for each outcome.

    The draft's tokens are frozen rows. Outcome j, where the tokens up to j are accepted, has
    ``masks[j]`` masks, which see the context, these tokens and each other. (The adapter was trained
    with an adapted copy of token j before the masks; leaving it out saves a row per outcome and
    loses no quality, as measured.)
    """
    num = len(tokens)
    ids = [*tokens, *[mask_id] * sum(masks)]
    positions = list(range(start, start + num))
    visible = torch.zeros(len(ids), start + len(ids), dtype=torch.bool)
    visible[:, :start] = True
    visible[:num, start : start + num] = torch.ones(num, num, dtype=torch.bool).tril()
    first = num
    for j, count in enumerate(masks):
        positions += range(start + j + 1, start + j + 1 + count)
        visible[first : first + count, start : start + j + 1] = True
        visible[first : first + count, start + first : start + first + count] = True
        first += count
    return Rows(
        ids=torch.tensor(ids, dtype=torch.long, device=device),
        positions=torch.tensor(positions, dtype=torch.long, device=device),
        num_frozen=num,
        visible=visible.to(device),
    )


def canvas_rows(
    frozen: Sequence[int], canvas: Sequence[int], *, start: int, device: torch.device
) -> Rows:
    """Return frozen rows, then canvas rows, which see all rows."""
    num, total = len(frozen), len(frozen) + len(canvas)
    visible = torch.ones(total, start + total, dtype=torch.bool)
    visible[:num] = visible[:num].tril(start)
    return Rows(
        ids=torch.tensor([*frozen, *canvas], dtype=torch.long, device=device),
        positions=torch.arange(start, start + total, device=device),
        num_frozen=num,
        visible=visible.to(device),
    )


def branch_rows(branches: Sequence[Sequence[int]], *, start: int, device: torch.device) -> Rows:
    """Return frozen rows of several continuations, which see the context but not each other."""
    lengths = [len(branch) for branch in branches]
    num = sum(lengths)
    visible = torch.zeros(num, start + num, dtype=torch.bool)
    visible[:, :start] = True
    first = 0
    for n in lengths:
        visible[first : first + n, start + first : start + first + n] = torch.ones(n, n).tril() > 0
        first += n
    return Rows(
        ids=torch.tensor([i for branch in branches for i in branch], dtype=torch.long).to(device),
        positions=torch.cat([torch.arange(start, start + n) for n in lengths]).to(device),
        num_frozen=num,
        visible=visible.to(device),
    )
