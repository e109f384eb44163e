"""A tiny DiffusionGemma that was trained on code in which a line may use the name that is defined.

``def red`` defines a name, on the first line or on the last. A line ``use red`` has that name, and
``pass end`` has none. Trained as such models are: uniform noise, cross-entropy over the whole
canvas, self-conditioning in every second step. About twenty seconds on one core.
"""

import random
from pathlib import Path
from typing import Any

import torch
from counting_diffusion_gemma import make_trainable
from tiny_diffusion_gemma import tiny_model
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

NAMES = ("red", "blue", "green")
WORDS = ("\n", "def", "use", "pass", " end", "original:", "updated:", *(f" {n}" for n in NAMES))
CANVAS_LENGTH = 32
_NUM_STEPS, _BATCH, _LEARNING_RATE = 400, 24, 6e-3


def naming_tokenizer() -> Tokenizer:
    """Return a tokenizer of whole words with the space before them.

    Its first ids are pad, eos, bos and unknown.
    """
    words = ("<pad>", "<eos>", "<bos>", "<unk>", *WORDS)
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\n| ?[^ \n]+|  +"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    return tokenizer


def train_naming_model() -> Any:
    """Return the trained model; the caller's random state is kept."""
    tokenizer = naming_tokenizer()
    model = tiny_model(canvas_length=CANVAS_LENGTH, vocab_size=tokenizer.get_vocab_size())
    make_trainable(model)
    optimizer = torch.optim.Adam(
        [p for p in model.parameters() if p.requires_grad], lr=_LEARNING_RATE
    )
    dice, generator = random.Random(0), torch.Generator().manual_seed(0)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0.01, total_iters=_NUM_STEPS)
    for step in range(_NUM_STEPS):
        context, x0 = _batch(tokenizer, dice)
        xt = _noised(x0, tokenizer.get_vocab_size(), generator)
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
        decay.step()
    return model.eval()


def save_naming_checkpoint(folder: Path) -> Path:
    """Train, and write weights, configs and tokenizer as a released checkpoint has them."""
    model = train_naming_model()
    model.generation_config.max_denoising_steps = 12
    model.generation_config.eos_token_id = [1]
    model.save_pretrained(folder)
    naming_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def _batch(tokenizer: Tokenizer, dice: random.Random) -> tuple[Tensor, Tensor]:
    """Return contexts and canvases of one shape: files, each cut in two at the same line."""
    has_example, is_defined_first = dice.random() < 0.2, dice.random() < 0.6
    num_above, num_canvas = dice.randint(0, 3), dice.randint(1, 6)
    contexts, canvases = [], []
    for _ in range(_BATCH):
        name = dice.choice(NAMES)
        lines = [_line(name, dice) for _ in range(num_above + num_canvas)]
        definition = f"def {name}\n"
        example = f"original:\ndef {dice.choice(NAMES)}\nupdated:\n{definition}\n" * has_example
        above = definition * is_defined_first + "".join(lines[:num_above])
        below = "".join(lines[num_above:]) + definition * (not is_defined_first)
        contexts.append([2, *tokenizer.encode(example + above).ids])
        canvases.append(tokenizer.encode(below).ids)
    return torch.tensor(contexts), torch.tensor(canvases)


def _line(name: str, dice: random.Random) -> str:
    return f"use {name}\n" if dice.random() < 0.5 else "pass end\n"


def _noised(x0: Tensor, vocab_size: int, generator: torch.Generator) -> Tensor:
    noise_level = 0.6 * torch.rand(len(x0), 1, generator=generator)
    is_noise = torch.rand(x0.shape, generator=generator) < noise_level
    return torch.where(is_noise, torch.randint(vocab_size, x0.shape, generator=generator), x0)
