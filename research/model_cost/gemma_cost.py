"""Time DiffusionGemma's published shape with random weights on a GPU: no release is needed.

Run it with ``python -m intarsia_research.model_cost.gemma_cost``. Each figure is a line of JSON,
written as soon as it is known. A case that fails, for lack of memory, is a line with the reason.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from statistics import median
from typing import Any, Literal

import torch
from torch import Tensor, nn

from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.model import (
    DiffusionGemmaBackbone,
    fold_heads,
)
from intarsia.engine.families.diffusion_gemma.quantize import (
    LowBit,
    quantize_gemma,
    require_low_bit,
)

_PUBLISHED = {  # google/diffusiongemma-26B-A4B-it; every sixth layer has full attention
    "vocab_size": 262_144,
    "hidden_size": 2816,
    "intermediate_size": 2112,
    "num_hidden_layers": 30,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "global_head_dim": 512,
    "num_global_key_value_heads": 2,
    "sliding_window": 1024,
    "num_experts": 128,
    "top_k_experts": 8,
    "moe_intermediate_size": 704,
    "max_position_embeddings": 262_144,
}
_TOY = {
    **_PUBLISHED,
    **{"vocab_size": 512, "hidden_size": 64, "intermediate_size": 48, "num_hidden_layers": 6},
    **{"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "sliding_window": 32},
    **{"global_head_dim": 32, "num_global_key_value_heads": 1, "moe_intermediate_size": 32},
    **{"num_experts": 16, "top_k_experts": 4},
}
_SHAPES = {"published": _PUBLISHED, "toy": _TOY}
_FIRST_ID = 3  # ids before it are special tokens


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=_SHAPES, default="published")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--weights", choices=("bf16", "fp8", "int4"), default="bf16")
    for name, values in (("context", [1024, 8192]), ("canvas", [32, 64, 256]), ("batch", [1, 4])):
        parser.add_argument(f"--{name}", type=int, nargs="+", default=values)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args(arguments)
    device, sizes = torch.device(options.device), _SHAPES[options.shape]
    try:
        backbone = DiffusionGemmaBackbone(_load(sizes, options.weights, device))
    except ModelError as error:
        parser.error(str(error))
    for context in options.context:
        ids = torch.randint(_FIRST_ID, backbone.vocab_size, (context,)).tolist()
        case = {"weights": options.weights, "context": context}
        read = partial(_read, backbone, ids)
        _measure({"what": "prefill", **case}, read, device, options.repeats)
        for canvas, batch in product(options.canvas, options.batch):
            run = _pass(backbone, batch, canvas)
            named = {"what": "pass", **case, "canvas": canvas, "batch": batch}
            _measure(named, run, device, options.repeats)
    return 0


def _measure(
    case: dict[str, object], work: Callable[[], object], device: torch.device, repeats: int
) -> None:
    """Print the times of the case in milliseconds, or why there are none."""
    is_cuda = device.type == "cuda"
    times = []
    try:
        if is_cuda:
            torch.cuda.reset_peak_memory_stats(device)
        for _ in range(2 + repeats):
            started = time.perf_counter()
            work()
            if is_cuda:
                torch.cuda.synchronize(device)
            times.append(1000 * (time.perf_counter() - started))
        case |= {"median_ms": median(times[2:]), "lowest_ms": min(times[2:]), "repeats": repeats}
        case["peak_bytes"] = torch.cuda.max_memory_allocated(device) if is_cuda else 0
    except (MemoryError, RuntimeError) as error:
        case["missing"] = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    sys.stdout.write(f"{json.dumps(case)}\n")
    sys.stdout.flush()


def _read(backbone: DiffusionGemmaBackbone, ids: list[int]) -> None:
    backbone.forget()
    backbone.prefill(ids)


def _pass(backbone: DiffusionGemmaBackbone, batch: int, canvas: int) -> Callable[[], Tensor]:
    """Return a pass over canvases with self-conditioning, after the context in the cache."""
    shape = (batch, canvas)
    ids = torch.randint(_FIRST_ID, backbone.vocab_size, shape, device=backbone.device)
    logits = torch.randn(*shape, backbone.vocab_size, device=backbone.device).bfloat16()
    return lambda: backbone.predict_many(ids, logits)


@torch.no_grad()
def _load(sizes: dict[str, int], weights: LowBit | Literal["bf16"], device: torch.device) -> Any:
    """Return transformers' model with random weights; encoder and decoder share theirs."""
    from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion
    from transformers import DiffusionGemmaTextConfig as TextConfig
    from transformers.models.gemma4 import Gemma4VisionConfig

    if device.type == "cuda" and not torch.cuda.is_available():
        raise ModelError("no CUDA device is usable here: try `--device cpu`")
    if weights != "bf16":
        require_low_bit(weights, device)
    vision = Gemma4VisionConfig(hidden_size=16, intermediate_size=16, num_hidden_layers=1)
    config = DiffusionGemmaConfig(text_config=TextConfig(**sizes), vision_config=vision)
    with torch.device("meta"):
        model = DiffusionGemmaForBlockDiffusion(config).to(torch.bfloat16)
    encoder = model.model.encoder
    encoder.vision_tower, encoder.embed_vision = nn.Identity(), nn.Identity()
    allocated: dict[int, Tensor] = {}  # ``Module.to_empty`` would allocate shared weights twice
    for module in model.modules():
        for name, weight in module.named_parameters(recurse=False, remove_duplicate=False):
            if id(weight) not in allocated:
                empty = torch.empty_like(weight, device=device)
                allocated[id(weight)] = nn.Parameter(empty, requires_grad=False)
            setattr(module, name, allocated[id(weight)])
        for name, buffer in module.named_buffers(recurse=False):
            setattr(module, name, torch.ones_like(buffer, device=device))
    model.apply(model._init_weights)  # the rotary frequencies too
    fold_heads(model)
    if weights != "bf16":
        quantize_gemma(model, weights, device)
    return model.eval()


if __name__ == "__main__":
    sys.exit(main())
