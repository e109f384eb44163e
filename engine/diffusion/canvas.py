"""The canvas: the token ids of one block in its present noisy state (xt). Each step replaces it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TokenCanvas:
    """One block of tokens while it is denoised."""

    ids: Tensor  # (length,) long: xt
    is_fixed: Tensor  # (length,) bool: given text, never changed
    is_accepted: Tensor  # (length,) bool: accepted by the last step

    def __post_init__(self) -> None:
        shapes = {tuple(t.shape) for t in (self.ids, self.is_fixed, self.is_accepted)}
        if len(shapes) != 1 or self.ids.dim() != 1:
            raise ValueError(
                f"a canvas needs three rows of one length, got shapes {sorted(shapes)}"
            )

    @property
    def is_free(self) -> Tensor:
        """Positions that the model writes."""
        return ~self.is_fixed

    def __len__(self) -> int:
        return self.ids.shape[0]


def random_canvas(
    ids: Sequence[int | None],
    *,
    vocab_size: int,
    generator: torch.Generator,
    start: Sequence[int | None] | None = None,
) -> TokenCanvas:
    """Return a canvas with uniform noise where ``ids`` has None (uniform-state diffusion).

    ``start`` may hold ids of a draft for some free positions; the others get noise.
    """
    given, is_fixed = _given(ids, generator.device)
    noise = torch.randint(vocab_size, given.shape, generator=generator, device=generator.device)
    if start is not None:
        begun, is_begun = _given(start, generator.device)
        noise = torch.where(is_begun, begun, noise)
    return TokenCanvas(
        ids=torch.where(is_fixed, given, noise),
        is_fixed=is_fixed,
        is_accepted=torch.zeros_like(is_fixed),
    )


def _given(ids: Sequence[int | None], device: torch.device) -> tuple[Tensor, Tensor]:
    given = torch.tensor([0 if i is None else i for i in ids], dtype=torch.long, device=device)
    is_fixed = torch.tensor([i is not None for i in ids], dtype=torch.bool, device=device)
    return given, is_fixed
