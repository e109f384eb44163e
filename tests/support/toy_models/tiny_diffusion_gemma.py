"""A DiffusionGemma with random weights, small enough to run in milliseconds on one core."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from intarsia.engine.families.diffusion_gemma.load import LoadedGemma, load_gemma

VOCAB_SIZE = 64
SLIDING_WINDOW = 8


def tiny_config(*, canvas_length: int, vocab_size: int = VOCAB_SIZE) -> Any:
    """Return a config with every size named: the class defaults are no small model's."""
    from transformers import DiffusionGemmaConfig, DiffusionGemmaTextConfig
    from transformers.models.gemma4 import Gemma4VisionConfig

    text = DiffusionGemmaTextConfig(
        vocab_size=vocab_size,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        global_head_dim=32,
        num_global_key_value_heads=1,
        sliding_window=SLIDING_WINDOW,
        num_experts=4,
        top_k_experts=2,
        moe_intermediate_size=16,
        max_position_embeddings=4096,
        eos_token_id=1,
    )
    vision = Gemma4VisionConfig(
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=16,
        position_embedding_size=16,
    )
    return DiffusionGemmaConfig(
        text_config=text,
        vision_config=vision,
        canvas_length=canvas_length,
        initializer_range=0.3,  # wide: predictions differ from each other
    )


def tiny_model(*, canvas_length: int = 12, vocab_size: int = VOCAB_SIZE, seed: int = 0) -> Any:
    """Return a model with weights drawn from the seed; the caller's random state is kept."""
    from transformers import DiffusionGemmaForBlockDiffusion

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        config = tiny_config(canvas_length=canvas_length, vocab_size=vocab_size)
        model = DiffusionGemmaForBlockDiffusion(config).eval()
        model.model.decoder.norm.weight.mul_(2)  # sharper: several tokens a step are accepted
        return model


CODE = '''def add(first, second):
    """Return the sum."""
    total = first + second
    return total


class Counter:
    def __init__(self):
        self.count = 0

    def increase(self, by=1):
        self.count += by
        return self.count
'''


def save_tiny_checkpoint(folder: Path, *, canvas_length: int = 64) -> Path:
    """Write weights, configs and a byte-level BPE tokenizer as a released checkpoint has them."""
    tokenizer = Tokenizer.from_file(str(save_tiny_tokenizer(folder)))
    model = tiny_model(canvas_length=canvas_length, vocab_size=tokenizer.get_vocab_size())
    model.generation_config.max_denoising_steps = 6
    model.generation_config.eos_token_id = [1, 3]
    model.save_pretrained(folder)
    return folder


def save_tiny_tokenizer(folder: Path) -> Path:
    """Write a byte-level BPE tokenizer; its first ids are pad, eos, bos and end of turn."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<pad>", "<eos>", "<bos>", "<turn|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([CODE], trainer)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def save_toy_checkpoint(folder: Path) -> Path:
    return save_tiny_checkpoint(folder, canvas_length=16)


def load_toy(folder: Path, *tunings: Path) -> LoadedGemma:
    return load_gemma(folder, device=torch.device("cpu"), dtype=torch.float32, tunings=tunings)
