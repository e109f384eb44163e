"""A tiny DiffusionGemma that was trained to count: each token is the one before plus one.

Trained as such models are: uniform noise, cross-entropy over the whole canvas, self-conditioning in
every second step. About ten seconds on one core.
"""

from typing import Any

import torch
from tiny_diffusion_gemma import tiny_model
from torch import Tensor

VOCAB_SIZE = 32
_NUM_STEPS, _BATCH, _CONTEXT, _CANVAS = 240, 32, 4, 12


def counting(start: int, length: int) -> list[int]:
    return [(start + i) % VOCAB_SIZE for i in range(length)]


def train_counting_model() -> Any:
    """Return the trained model; the caller's random state is kept."""
    model = tiny_model(canvas_length=16, vocab_size=VOCAB_SIZE)
    _make_trainable(model)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=8e-3)
    generator = torch.Generator().manual_seed(0)
    for step in range(_NUM_STEPS):
        context, x0, xt = _batch(generator)
        seen = None
        if step % 2:
            with torch.no_grad():
                seen = model(input_ids=context, decoder_input_ids=xt).logits
        logits = model(
            input_ids=context, decoder_input_ids=xt, self_conditioning_logits=seen
        ).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), x0.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def _make_trainable(model: Any) -> None:
    """Shrink the wide weights of the tiny model: they are made to differ, not to learn."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(0.3)
        model.model.decoder.norm.weight.fill_(1)
    model.model.encoder.vision_tower.requires_grad_(False)
    model.train()


def _batch(generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    starts = torch.randint(VOCAB_SIZE, (_BATCH, 1), generator=generator)
    ids = (starts + torch.arange(_CONTEXT + _CANVAS)) % VOCAB_SIZE
    context, x0 = ids[:, :_CONTEXT], ids[:, _CONTEXT:]
    noise_level = torch.rand(_BATCH, 1, generator=generator)
    is_noise = torch.rand(x0.shape, generator=generator) < noise_level
    noise = torch.randint(VOCAB_SIZE, x0.shape, generator=generator)
    return context, x0, torch.where(is_noise, noise, x0)
