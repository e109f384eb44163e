"""vLLM's server with DiffusionGemma: one canvas to ``/v1/completions``, denoised there, and back.

Follows vllm/utils/diffusion.py and vllm/model_executor/models/diffusion_gemma.py of
vllm-project/vllm 0.32, and its example "structured_diffusion". The canvas goes as extra arguments:
ids to begin with, and which of these are pinned.

Newer servers refuse a canvas that is narrower than theirs unless they schedule asynchronously, and
some draw several samples for one request (vLLM's pull request 58438).

The server writes its own likeliest ids at pinned positions too: the reader of an answer puts the
pins back. A ``read_only`` canvas never becomes part of the server's context with these ids.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.remote.dialects.completions import PLAIN, IdsServer
from intarsia.engine.remote.dialects.generation import Parameters
from intarsia.engine.remote.dialects.ids_servers import parse_chunk

NUM_LIKELY = 5
"""At each position, the likeliest tokens are reported: enough for its entropy."""

MAX_STEPS = 48
"""The released model's own limit. A server with a lower one keeps to that."""

MAX_SAMPLES = 4
"""The most samples of one canvas in a request, each from other noise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CanvasRequest:
    """One canvas that follows ``prompt``. ``ids`` at the positions ``pinned`` are never changed.

    It is emitted once it is stable, after ``max_steps`` at most. With ``scored`` ids, the
    probabilities of these are reported at each position, and no others.
    """

    prompt: Sequence[int]
    ids: Sequence[int]
    pinned: Sequence[int]
    max_steps: int = MAX_STEPS
    scored: Sequence[int] = ()
    num_samples: int = 1


class VllmCanvas(IdsServer):
    """The dialect."""

    parse = staticmethod(parse_chunk)

    def body(self, request: CanvasRequest) -> Parameters:
        """Return the request's JSON.

        The model's sampler refuses seeds, biases and any temperature but 1, which it then replaces
        with its own schedule. Filters such as ``top_k`` would change the reported probabilities.
        """
        extra: Parameters = {
            "diffusion_canvas_length": len(request.ids),
            "diffusion_seed_canvas": list(request.ids),
            "diffusion_pinned": list(request.pinned),
            "diffusion_max_steps": request.max_steps,
            "diffusion_read_only": 1,
        }
        if request.num_samples > 1:
            extra["diffusion_samples"] = request.num_samples
        body: Parameters = {
            "model": self._model,
            "prompt": list(request.prompt),
            "max_tokens": len(request.ids),
            "ignore_eos": True,
            "temperature": 1.0,
            "logprobs": NUM_LIKELY,
            "return_tokens_as_token_ids": True,
            "cache_salt": self._cache_salt,
            "vllm_xargs": extra,
            **PLAIN,
        }
        if request.scored:
            body["logprob_token_ids"] = sorted(set(request.scored))
        return body


def probe_body(model: str, canvas_length: int, num_samples: int | None = None) -> Parameters:
    """Return a request that a model without a canvas takes, whatever the length of the canvas is.

    DiffusionGemma refuses a length of 0, and lengths above that of the canvas it serves. A server
    that knows no samples takes any number of them.
    """
    samples: Parameters = {}
    if num_samples is not None:
        ids = [2] * canvas_length
        samples = {"diffusion_seed_canvas": ids, "diffusion_pinned": [0]}
        samples["diffusion_samples"] = num_samples
    return {
        "model": model,
        "prompt": [2],
        "max_tokens": max(canvas_length, 1),
        "temperature": 1.0,
        "vllm_xargs": {
            "diffusion_canvas_length": canvas_length,
            "diffusion_max_steps": 1,
            "diffusion_read_only": 1,
            **samples,
        },
    }
