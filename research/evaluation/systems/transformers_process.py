"""Transformers' greedy generation as a process: it reads prompts and writes texts.

Run with ``python -m intarsia_research.evaluation.systems.transformers_process MODEL.gguf``. The
messages are in ``transformers_protocol``; the weights are those of our engine.
"""

import os
import re
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from intarsia_research.evaluation.systems.baseline_program import Prompt, Written
from intarsia_research.evaluation.systems.held_context import HeldContext
from intarsia_research.evaluation.systems.transformers_protocol import (
    LoadFailed,
    ModelLoaded,
    Reply,
)

if TYPE_CHECKING:
    import torch

_MARKS = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
_MARK = re.compile(r"<\S+>")


@dataclass(frozen=True, kw_only=True, slots=True)
class Backbone:
    """A loaded model, its tokenizer and its special tokens."""

    model: Any
    tokenizer: Any
    marks: tuple[int, ...]  # before prefix, suffix, middle
    end_ids: tuple[int, ...]
    details: dict[str, str]
    held: HeldContext = field(default_factory=HeldContext)

    def write(self, prompt: Prompt) -> Written:
        """Fill the hole by greedy decoding."""
        import torch

        started = time.perf_counter()
        context = self._context(prompt)
        ids = torch.tensor([context])
        cache, num_reused = self.held.open(context) if prompt.keeps_context else (None, 0)
        stop = _StopAtText(self, num_context=len(context), stop=prompt.stop)
        with torch.inference_mode():
            whole = self.model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                do_sample=False,
                max_new_tokens=prompt.max_tokens,
                eos_token_id=list(self.end_ids),
                pad_token_id=self.end_ids[0],
                use_cache=True,
                past_key_values=cache,
                stopping_criteria=[stop],
            )
        written = whole[0, len(context) :].tolist()
        ids_of_text = written[:-1] if written[-1] in self.end_ids else written
        text = self.decode(ids_of_text)
        end = min((text.index(mark) for mark in prompt.stop if mark in text), default=len(text))
        return Written(
            text=text[:end],
            ms=(time.perf_counter() - started) * 1000,
            read_ms=(stop.first_at - started) * 1000,
            num_forwards=len(written) - 1,  # the first token comes with the prefill
            num_tokens=self._num_tokens(ids_of_text, end),
            num_read=len(context) - num_reused,
            num_reused=num_reused,
        )

    def decode(self, ids: Sequence[int]) -> str:
        """Return the exact text of the ids."""
        text: str = self.tokenizer.decode(ids, clean_up_tokenization_spaces=False)
        return text

    def _context(self, prompt: Prompt) -> list[int]:
        before_prefix, before_suffix, before_middle = self.marks
        prefix, suffix = self._encode(prompt.prefix), self._encode(prompt.suffix)
        return [before_prefix, *prefix, before_suffix, *suffix, before_middle]

    def _encode(self, text: str) -> list[int]:
        """Return the ids of a text. A special token in a user's file is encoded as plain text."""
        clean = text.encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self.tokenizer(
            clean, add_special_tokens=False, split_special_tokens=True
        ).input_ids
        return ids

    def _num_tokens(self, ids: Sequence[int], num_chars: int) -> int:
        """Return how many tokens the first ``num_chars`` characters need."""
        counts = range(len(ids) + 1)
        return next((n for n in counts if len(self.decode(ids[:n])) >= num_chars), len(ids))


class _StopAtText:
    """Ends a generation of one row at a stop text; records the time of the first token.

    transformers' own ``stop_strings`` searches the whole vocabulary for every new stop text.
    """

    def __init__(self, backbone: Backbone, *, num_context: int, stop: tuple[str, ...]) -> None:
        self._backbone = backbone
        self._num_context = num_context
        self._stop = stop
        self.first_at = 0.0

    def __call__(self, ids: "torch.Tensor", scores: object, **others: object) -> "torch.Tensor":
        import torch

        self.first_at = self.first_at or time.perf_counter()
        text = self._backbone.decode(ids[0, self._num_context :].tolist())
        return torch.tensor([any(mark in text for mark in self._stop)])


def load_backbone(gguf: Path) -> Backbone:
    """Load a GGUF file. Raise ValueError, OSError or another error of transformers."""
    import torch
    import transformers

    dtype = torch.bfloat16 if _multiplies_bfloat16() else torch.float32
    model = _load_model(gguf, dtype)
    tokenizer = transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    vocabulary = tokenizer.get_vocab()
    if missing := [mark for mark in _MARKS if mark not in vocabulary]:
        raise ValueError(f"its tokenizer has no {missing[0]}, so it cannot fill holes")
    return Backbone(
        model=model,
        tokenizer=tokenizer,
        marks=tuple(vocabulary[mark] for mark in _MARKS),
        end_ids=_end_ids(tokenizer),
        details={
            "transformers": transformers.__version__,
            "torch": str(torch.__version__),
            "weights": str(dtype).removeprefix("torch."),
            "embedding": "tied" if _tie(model) else "as in the file",
            "threads": str(torch.get_num_threads()),
        },
    )


def _load_model(gguf: Path, dtype: "torch.dtype") -> Any:
    """Load the weights as transformers does; its own single call would need accelerate."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    config = AutoConfig.from_pretrained(gguf.parent, gguf_file=gguf.name)
    with torch.device("meta"):
        names = AutoModelForCausalLM.from_config(config)
    weights = load_gguf_checkpoint(
        gguf, return_tensors=True, model_to_load=names, torch_dtype=dtype
    )["tensors"]
    return type(names).from_pretrained(None, config=config, state_dict=weights, dtype=dtype).eval()


def _multiplies_bfloat16() -> bool:
    """Decide as our engine does: emulated bfloat16 is slower than float32."""
    import torch

    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()


def _end_ids(tokenizer: Any) -> tuple[int, ...]:
    """Return the special tokens; files of this model family list some as plain ones."""
    added = tokenizer.added_tokens_decoder.items()
    return tuple(i for i, token in added if token.special or _MARK.fullmatch(token.content))


def _tie(model: Any) -> bool:
    """Share one matrix between embedding and output if the model ties them; return whether it does.

    llama.cpp may write a tied matrix twice with different rounding; the output is more precise.
    """
    embed, output = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    if embed is not output:
        rows = slice(0, None, max(1, len(embed) // 64))
        difference = (embed[rows].float() - output[rows].float()).abs().mean()
        if difference >= 0.2 * output[rows].float().abs().mean():
            return False
        embed.data = output.data
    return True


def main() -> int:
    """Load the model, report it, and answer prompts until stdin ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keep the output of libraries apart

    def send(reply: Reply) -> None:
        answers.write(msgspec.json.encode(reply) + b"\n")
        answers.flush()

    try:
        backbone = load_backbone(Path(sys.argv[1]))
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, struct.error) as fault:
        lines = str(fault).strip().splitlines()
        send(LoadFailed(message=lines[0] if lines else type(fault).__name__))
        return 1
    send(ModelLoaded(details=backbone.details))
    for line in sys.stdin.buffer:
        send(backbone.write(msgspec.json.decode(line, type=Prompt)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
