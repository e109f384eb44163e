"""Time DiffusionGemma's published shape with random weights on a GPU: no release is needed.

Run it with ``python -m intarsia_research.model_cost.gemma_cost``. Each case is a line of JSON,
written as soon as it is known: loading, the prefill of a context, a pass over canvases, and the
same pass as a CUDA graph, as the engine replays it. A case that fails, for lack of memory, is a
line with the reason.
"""

import argparse
import gc
import json
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import product
from statistics import median
from typing import Any, Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn

from intarsia.engine.diffusion.canvas import random_canvas
from intarsia.engine.diffusion.denoise import Denoised, denoise
from intarsia.engine.diffusion.policies import uniform_state_policy
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import synchronize
from intarsia.engine.families.diffusion_gemma.canvas_graph import record_on_card
from intarsia.engine.families.diffusion_gemma.model import (
    DiffusionGemmaBackbone,
    fold_heads,
)
from intarsia.engine.families.diffusion_gemma.quantize import (
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
_Format: TypeAlias = Literal["bf16", "fp8", "int4"]
_FORMATS: tuple[_Format, ...] = get_args(_Format)


@dataclass(frozen=True, slots=True)
class _Bench:
    """Where, how often and until when (``perf_counter``) the cases of one format are timed."""

    device: torch.device
    repeats: int
    end: float

    def synchronize(self) -> float:
        """Return the time when the device has done what it was given."""
        synchronize(self.device)
        return time.perf_counter()

    def peak_bytes(self) -> int:
        """Return the most memory in use since the last call; 0 on a CPU."""
        if self.device.type != "cuda":
            return 0
        peak = torch.cuda.max_memory_allocated(self.device)
        torch.cuda.reset_peak_memory_stats(self.device)
        return peak


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code: 1 where no number format could be loaded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=_SHAPES, default="published")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--weights", choices=_FORMATS, nargs="+", default=_FORMATS)
    for name, values in (("context", [1024, 8192]), ("canvas", [32, 64, 256]), ("batch", [1, 4])):
        parser.add_argument(f"--{name}", type=int, nargs="+", default=values)
    parser.add_argument("--steps", type=int, default=0, help="also time whole loops of this many")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=math.inf, help="limit for all formats")
    options = parser.parse_args(arguments)
    device, end = torch.device(options.device), time.perf_counter() + options.seconds
    is_cuda = device.type == "cuda"
    if is_cuda and not torch.cuda.is_available():
        parser.error("no CUDA device is usable here: try `--device cpu`")
    card = torch.cuda.get_device_name(device) if is_cuda else str(device)
    versions = {name: version(name) for name in ("torch", "transformers")}
    _write({"what": "device", "name": card, **versions})
    num_loaded = 0
    for done, weights in enumerate(options.weights):
        now = time.perf_counter()
        until = now + (end - now) / (len(options.weights) - done)
        num_loaded += _measure_format(weights, options, _Bench(device, options.repeats, until))
    return 0 if num_loaded else 1


def _measure_format(weights: _Format, options: argparse.Namespace, bench: _Bench) -> bool:
    """Print the cases of one number format; return whether it could be loaded."""
    started = time.perf_counter()
    try:
        gc.collect()  # the model before this one, whose memory is needed
        if bench.device.type == "cuda":
            torch.cuda.empty_cache()
        bench.peak_bytes()
        model = _load(_SHAPES[options.shape], weights, bench.device)
        figures = {"seconds": bench.synchronize() - started, "peak_bytes": bench.peak_bytes()}
    except Exception as error:  # noqa: BLE001 - whatever a card lacks is a result
        _write({"what": "load", "weights": weights, "missing": _reason(error)})
        return False
    num_bytes = sum(tensor.nbytes for tensor in (*model.parameters(), *model.buffers()))
    _write({"what": "load", "weights": weights, **figures, "weight_bytes": num_bytes})
    backbone = DiffusionGemmaBackbone(model)
    for context in options.context:
        ids = torch.randint(_FIRST_ID, backbone.vocab_size, (context,)).tolist()
        case = {"weights": weights, "context": context}
        _measure("prefill", case, partial(_reading, backbone, ids), bench)
        for canvas, batch in product(options.canvas, options.batch):
            named = {**case, "canvas": canvas, "batch": batch}
            _measure("pass", named, partial(_pass, backbone, batch, canvas), bench)
            if context == options.context[0] and batch == options.batch[0]:
                _measure("replay", named, partial(_replay, backbone, batch, canvas), bench)
                for has_graphs in (False, True) if options.steps else ():
                    loop = partial(_loop, model, context, canvas, options.steps)
                    work = partial(loop, has_graphs=has_graphs)
                    _measure("loop", {**named, "graphs": has_graphs}, work, bench)
    return True


_Work: TypeAlias = tuple[Callable[[], object], Mapping[str, object]]
"""What is timed, and figures that are known before."""


def _measure(
    what: str, case: dict[str, object], prepare: Callable[[], _Work], bench: _Bench
) -> None:
    """Print the times of a case in milliseconds, or why there are none."""
    figures: dict[str, object] = {"what": what, **case}
    times: list[float] = []
    try:
        started = time.perf_counter()
        if started > bench.end:
            raise TimeoutError("--seconds are over")
        bench.peak_bytes()
        work, known = prepare()
        while len(times) < 3 or (len(times) < 2 + bench.repeats and started < bench.end):
            started = bench.synchronize()
            work()
            times.append(1000 * (bench.synchronize() - started))
        figures |= {"median_ms": median(times[2:]), "lowest_ms": min(times[2:]), **known}
        figures |= {"repeats": len(times) - 2, "peak_bytes": bench.peak_bytes()}
    except Exception as error:  # noqa: BLE001 - no case ends the others
        figures["missing"] = _reason(error)
    _write(figures)


def _reason(error: BaseException | None) -> str:
    """Return what went wrong, and what before it: a failed capture hides its cause."""
    parts = []
    while error is not None:
        parts.append(" ".join(f"{type(error).__name__}: {error}".split())[:300])
        error = error.__context__
    return "; after ".join(parts)


def _write(figures: dict[str, object]) -> None:
    sys.stdout.write(f"{json.dumps(figures)}\n")
    sys.stdout.flush()


def _reading(backbone: DiffusionGemmaBackbone, ids: list[int]) -> _Work:
    return partial(_read, backbone, ids), {}


def _read(backbone: DiffusionGemmaBackbone, ids: list[int]) -> None:
    backbone.forget()
    backbone.prefill(ids)


def _pass(backbone: DiffusionGemmaBackbone, batch: int, canvas: int) -> _Work:
    """Return a pass over canvases with self-conditioning, after the context in the cache."""
    ids, logits = _inputs(backbone, batch, canvas)
    return partial(backbone.predict_many, ids, logits), {}


def _inputs(backbone: DiffusionGemmaBackbone, batch: int, canvas: int) -> tuple[Tensor, Tensor]:
    shape = (batch, canvas)
    ids = torch.randint(_FIRST_ID, backbone.vocab_size, shape, device=backbone.device)
    logits = torch.randn(*shape, backbone.vocab_size, device=backbone.device)
    return ids, logits.to(torch.bfloat16)


def _replay(backbone: DiffusionGemmaBackbone, batch: int, canvas: int) -> _Work:
    """Return the same pass as a CUDA graph, and how far its logits are from those without it."""
    if backbone.device.type != "cuda":
        raise ModelError("a CUDA graph needs a CUDA device")
    first, others = _inputs(backbone, batch, canvas), _inputs(backbone, batch, canvas)
    backbone.predict_many(*first)  # libraries and kernels are loaded outside the recording
    replay = record_on_card(backbone.predict_many, *first)
    if replay is None:
        raise ModelError("no memory is left for a CUDA graph")
    replayed = replay(*others)
    eager = [backbone.predict_many(*others) for _ in range(2)]
    off, noise = ((logits - eager[0]).abs().max().item() for logits in (replayed, eager[1]))
    largest = eager[0].abs().max().item()
    known = {"largest_difference": off, "of_eager_twice": noise, "largest_logit": largest}
    return partial(replay, *others), known


def _loop(model: Any, context: int, canvas: int, steps: int, *, has_graphs: bool) -> _Work:
    """Return a canvas's denoising by the released policy, stopped by nothing; of two the ids are
    the same."""
    backbone = DiffusionGemmaBackbone(model)
    if has_graphs:
        backbone.use_graphs()
    backbone.prefill(range(_FIRST_ID, _FIRST_ID + context))
    size = backbone.vocab_size
    policy = uniform_state_policy(vocab_size=size, max_steps=steps, stop=lambda *state: False)

    def work() -> Denoised:
        backbone.forget_graph()  # as after each fill
        random = torch.Generator(backbone.device).manual_seed(0)
        noise = random_canvas([None] * canvas, vocab_size=size, generator=random)
        return denoise(backbone.predict, noise, policy, generator=random)

    known = {"steps": steps, "sum_of_ids": int(work().ids.sum()), "notes": backbone.notes}
    return work, known


@torch.no_grad()
def _load(sizes: dict[str, int], weights: _Format, device: torch.device) -> Any:
    """Return transformers' model with random weights; encoder and decoder share theirs."""
    if weights != "bf16":
        require_low_bit(weights, device)
    model = _random_model(sizes, device)  # nothing else holds what is replaced here
    fold_heads(model)
    if weights != "bf16":
        quantize_gemma(model, weights, device)
    return model.eval()


def _random_model(sizes: dict[str, int], device: torch.device) -> Any:
    from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion
    from transformers import DiffusionGemmaTextConfig as TextConfig
    from transformers.models.gemma4 import Gemma4VisionConfig

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
    return model


if __name__ == "__main__":
    sys.exit(main())
