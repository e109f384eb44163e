"""One canvas after its context: encode, noise, denoise. Text longer than a canvas is several calls.

Token ids come in, the denoised canvas goes out. Knows nothing of text.
"""

from collections.abc import Callable, Sequence

import torch

from intarsia.engine.diffusion.canvas import random_canvas
from intarsia.engine.diffusion.denoise import Denoised, DenoisingPolicy, OnStep, denoise
from intarsia.engine.families.protocol import Backbone


def write_block(
    backbone: Backbone,
    context: Sequence[int],  # all that stands before, earlier canvases included
    ids: Sequence[int | None],  # None where the model is to write
    policy: DenoisingPolicy,
    *,
    generator: torch.Generator,
    is_cancelled: Callable[[], bool],
    deadline: float | None,
    on_step: OnStep,
    start: Sequence[int | None] | None = None,  # ids to begin with; elsewhere fresh noise
) -> Denoised:
    """Denoise one canvas. Raises Cancelled between two steps."""
    backbone.prefill(context, is_cancelled)
    return denoise(
        backbone.predict,
        random_canvas(ids, vocab_size=backbone.vocab_size, generator=generator, start=start),
        policy,
        generator=generator,
        is_cancelled=is_cancelled,
        deadline=deadline,
        on_step=on_step,
    )
