"""Run vLLM's own code for DiffusionGemma on requests: admission, sampler steps and answers.

Runs in the environment of vLLM's package: ``python vllm_canvas_wheel.py CANVAS VOCAB`` reads one
``{"body", "likely"}`` a line, where ``likely`` are the ids that a model would find likeliest at
each position, and writes ``{"refusal"}`` or ``{"event", "held", "num_steps", "emitted"}``. The
weights are all that is missing: these need a GPU.
"""

import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
import sys
import types
from typing import Any, ClassVar

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # its compiled steps run as plain torch

HIDDEN, MAX_STEPS, NUM_STABLE = 8, 6, 2
SURE = 12.0  # the logit of the likeliest id


def import_without_pictures() -> None:
    """Let the model's module be imported without torchvision, which only its pictures need."""
    if importlib.util.find_spec("torchvision") is not None:
        return

    class Missing(types.ModuleType):
        __path__: ClassVar[list[str]] = []

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {"__getattr__": lambda self, key: 0})

    version = importlib.metadata.version
    importlib.metadata.version = lambda name: "0.28.0" if name == "torchvision" else version(name)
    names = ("", ".transforms", ".transforms.functional", ".transforms.v2",
             ".transforms.v2.functional", ".io")  # fmt: skip
    for name in (f"torchvision{rest}" for rest in names):
        module = Missing(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        sys.modules[name] = module
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, module)
    modes = ("NEAREST", "NEAREST_EXACT", "BOX", "BILINEAR", "HAMMING", "BICUBIC", "LANCZOS")
    mode = type("InterpolationMode", (), {name: i for i, name in enumerate(modes)})
    sys.modules["torchvision.transforms"].InterpolationMode = mode
    sys.modules["torchvision.transforms.functional"].InterpolationMode = mode
    sys.modules["torchvision.transforms.v2.functional"].InterpolationMode = mode


import_without_pictures()

import torch  # noqa: E402
from vllm.entrypoints.openai.completion import protocol  # noqa: E402
from vllm.entrypoints.openai.completion.serving import OpenAIServingCompletion  # noqa: E402
from vllm.exceptions import VLLMValidationError  # noqa: E402
from vllm.logprobs import Logprob  # noqa: E402
from vllm.model_executor.models import diffusion_gemma as dg  # noqa: E402
from vllm.model_executor.models.diffusion_gemma_sampler import (  # noqa: E402
    sample_row_stats_reference,
)
from vllm.sampling_params import SamplingParams  # noqa: E402
from vllm.utils.diffusion import validate_diffusion_sampling_params  # noqa: E402


def admitted(body: dict[str, Any], canvas_length: int, vocab_size: int) -> SamplingParams:
    """Return what the server makes of a request. Raises ValueError for one that it refuses."""
    request = protocol.CompletionRequest(**body)
    params = request.to_sampling_params(request.max_tokens or 16, {})
    model = types.SimpleNamespace(
        is_diffusion=True, max_logprobs=20, get_vocab_size=lambda: vocab_size
    )
    params._validate_logprobs(model)
    params._validate_logit_bias(model)
    params._validate_allowed_token_ids(model)
    params._validate_diffusion(model)
    params._validate_structured_outputs(model, types.SimpleNamespace(backend="auto"), None)
    validate_diffusion_sampling_params(params, canvas_length=canvas_length, vocab_size=vocab_size)
    return params


class Sampler:
    def __init__(self, canvas_length: int, vocab_size: int) -> None:
        self.canvas_length, self.vocab_size = canvas_length, vocab_size
        self.embedding = torch.randn(vocab_size, HIDDEN)

    def denoise(self, params: SamplingParams, logits: torch.Tensor) -> tuple[list[int], int, bool]:
        """Return the ids that are emitted, after how many steps, and whether all pins held."""
        states = dg.DiffusionGemmaRequestStates(
            max_num_reqs=1,
            canvas_length=self.canvas_length,
            vocab_size=self.vocab_size,
            max_denoising_steps=MAX_STEPS,
            device=torch.device("cpu"),
            hidden_size=HIDDEN,
            stability_threshold=NUM_STABLE,
        )
        self._add_request(states, params)
        slots, width = torch.tensor([0]), len(logits)
        states.apply_seed_canvases(slots.numpy(), slots)
        states.is_encoder_phase[0] = False  # the prompt is read
        pins, held = states.pin_mask[0, :width], True
        for step in range(1, MAX_STEPS + 1):
            before = states.canvas[0, :width].clone()
            held = held and bool((before == states.seed_canvas[0, :width])[pins].all())
            emitted = self._step(states, logits, slots)
            if emitted is not None:
                return emitted, step, held
        raise RuntimeError(f"nothing is emitted after {MAX_STEPS} steps")

    def _add_request(self, states: Any, params: SamplingParams) -> None:
        """Have the server's sampler read the extra arguments of a request."""
        states.add_request(0)
        ignored = types.SimpleNamespace(add_request=lambda *_: None)
        dg.DiffusionSampler.add_request(
            types.SimpleNamespace(
                diffusion_states=states,
                canvas_length=self.canvas_length,
                tp_size=1,
                sampling_states=ignored,
                logprob_token_ids_state=ignored,
                _pending_logprobs={},
            ),
            0,
            params,
        )

    def _step(self, states: Any, logits: torch.Tensor, slots: torch.Tensor) -> list[int] | None:
        """Run the server's own step; return what it emits, None before its last one."""
        width, full = len(logits), self.canvas_length
        temperature = dg._denoise_temperature(states.step, slots, float(MAX_STEPS), 0.4, 0.8)
        argmax, sample, entropy, softmax = sample_row_stats_reference(
            logits, temperature, width, self.embedding.dtype
        )
        sampled = torch.zeros(1, full, dtype=torch.int32)
        num_sampled = torch.zeros(1, dtype=torch.int32)
        dg._compiled_sample_step(
            sample.view(1, width),
            argmax.view(1, width),
            entropy.view(1, width),
            softmax.view(1, width, -1),
            slots,
            torch.tensor([0]),
            slots,
            torch.tensor([width]),
            states.canvas[:, :width],
            states.argmax_canvas[:, :width],
            states.step,
            states.is_encoder_phase,
            states.confident,
            states.self_conditioning_embeds[:, :width],
            self.embedding,
            torch.tensor(1.0),
            states.accepted_canvas_history[:, :, :width],
            states.accepted_canvas_history_len,
            states.max_steps,
            states.pin_mask[:, :width],
            states.seed_canvas[:, :width],
            states.read_only,
            sampled[:, :width],
            num_sampled,
            torch.zeros(1, full, dtype=torch.int64),
            confidence_threshold=0.005,
            vocab_size=self.vocab_size,
            CL=width,
            ST=NUM_STABLE,
            entropy_bound=0.1,
            sc_vocab_start=0,
            sc_vocab_end=self.vocab_size,
            tp_size=1,
            tp_group_name="",
        )
        return sampled[0, :width].tolist() if int(num_sampled[0]) else None


def logits_of(likely: list[int], vocab_size: int) -> torch.Tensor:
    """Return logits (length, vocab) of a model that is sure of these ids."""
    logits = torch.randn(len(likely), vocab_size, generator=torch.Generator().manual_seed(0))
    logits[torch.arange(len(likely)), torch.tensor(likely)] = SURE
    return logits


def event_of(body, params, ids, logits) -> str:
    """Return the event with a canvas as the server builds it, log-probabilities at temperature 1.

    The server's kernel that takes these from the logits needs a GPU: here log_softmax does it.
    """
    log_ps = logits.log_softmax(dim=-1)
    rows = []
    for position, token in enumerate(ids):
        likeliest = log_ps[position].topk(params.logprobs or 0).indices.tolist()
        reported = dict.fromkeys([token, *(params.logprob_token_ids or likeliest)])
        rows.append({i: Logprob(logprob=float(log_ps[position, i])) for i in reported})
    serving = types.SimpleNamespace(
        return_tokens_as_token_ids=False,
        _get_decoded_token=OpenAIServingCompletion._get_decoded_token,
    )
    scored = OpenAIServingCompletion._create_completion_logprobs(
        serving,
        token_ids=ids,
        top_logprobs=rows,
        num_output_top_logprobs=body["logprobs"],
        tokenizer=None,
        logprob_token_ids=body.get("logprob_token_ids"),
        return_as_token_id=body["return_tokens_as_token_ids"],
    )
    choice = protocol.CompletionResponseStreamChoice(
        index=0, text="", logprobs=scored, finish_reason="length"
    )
    chunk = protocol.CompletionStreamResponse(model=body["model"], choices=[choice])
    event: str = chunk.model_dump_json()
    return event


def answer_of(asked: dict[str, Any], sampler: Sampler) -> dict[str, Any]:
    body = asked["body"]
    try:
        params = admitted(body, sampler.canvas_length, sampler.vocab_size)
    except (ValueError, VLLMValidationError) as error:
        return {"refusal": str(error)}
    if not asked["likely"]:
        return {}
    logits = logits_of(asked["likely"], sampler.vocab_size)
    ids, num_steps, held = sampler.denoise(params, logits)
    event = event_of(body, params, ids, logits)
    return {"event": event, "held": held, "num_steps": num_steps, "emitted": ids}


def main() -> None:
    torch.manual_seed(0)
    sampler = Sampler(int(sys.argv[1]), int(sys.argv[2]))
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer_of(json.loads(line), sampler)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
