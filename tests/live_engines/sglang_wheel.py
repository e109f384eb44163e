"""Run SGLang's own request and response code on one completion, without its GPU libraries.

Runs in the environment of SGLang's wheel: ``python sglang_wheel.py`` reads ``{"body", "template"}``
as JSON, and writes the prompt that the server would compute, what it does with the other fields,
and two events that it would send, the first with a piece of a character.
"""

import json
import sys
import sysconfig
import types
from pathlib import Path

ROOT = Path(sysconfig.get_path("purelib"))


def import_without_gpu() -> None:
    """Let the wheel's modules be imported one by one: its packages would import CUDA."""
    for name in ("sglang", "sglang.srt", "sglang.srt.entrypoints", "sglang.srt.parser",
                 "sglang.srt.entrypoints.openai", "sglang.srt.sampling"):  # fmt: skip
        package = types.ModuleType(name)
        package.__path__ = [str(ROOT.joinpath(*name.split(".")))]
        sys.modules[name] = package
    for name, attributes in {
        "torch": ["Tensor"],
        "IPython": [],
        "IPython.display": ["HTML", "display"],
    }.items():
        module = types.ModuleType(name)
        for attribute in attributes:
            setattr(module, attribute, object)
        sys.modules[name] = module


class Tokenizer:
    """A byte-level tokenizer of two tokens, as the wheel asks for it."""

    is_byte_level = True

    def encode(self, text: str, **_: object) -> list[int]:
        return [9] * len(text)

    def convert_ids_to_tokens(self, token: int) -> str:
        return {7: "Ã", 9: "x"}[token]


def events(model: str) -> list[str]:
    """Return the events of a token "x" with a likely piece of a character, and of the usage."""
    from sglang.srt.entrypoints.openai import protocol, usage_processor, utils

    scored = [(-0.25, 9, "x"), (-1.5, 7, "\ufffd")]
    choice = protocol.CompletionResponseStreamChoice(
        index=0,
        text="x",
        logprobs=utils.to_openai_style_logprobs(
            output_token_logprobs=scored[:1], output_top_logprobs=[scored], tokenizer=Tokenizer()
        ),
        finish_reason="stop",
        matched_stop="\n",
        token_ids=[9],
    )
    usage = usage_processor.UsageProcessor.calculate_streaming_usage(
        {0: 40}, {0: 0}, {0: 1}, {0: 16}, n_choices=1, enable_cache_report=True
    )
    chunk = protocol.CompletionStreamResponse
    return [
        chunk(id="1", created=1, choices=[choice], model=model).model_dump_json(),
        chunk(id="1", created=1, choices=[], model=model, usage=usage).model_dump_json(
            exclude_none=True
        ),
    ]


def main() -> None:
    import_without_gpu()
    from sglang.srt.entrypoints.openai.protocol import CompletionRequest, ModelCard
    from sglang.srt.parser import code_completion_parser as parser
    from sglang.srt.sampling.sampling_params import SamplingParams

    asked = json.load(sys.stdin)
    request = CompletionRequest(**asked["body"])
    prompt = request.prompt
    if asked["template"] is not None:
        parser.set_completion_template(asked["template"])
        prompt = parser.generate_completion_prompt_from_request(request)
    sampling = SamplingParams(
        max_new_tokens=request.max_tokens,
        temperature=request.temperature,
        stop=request.stop,
        top_p=request.top_p,
        top_k=request.top_k,
        min_p=request.min_p,
        regex=request.regex,
        logit_bias=request.logit_bias,
        sampling_seed=request.seed,
        repetition_penalty=request.repetition_penalty,
    )
    sampling.normalize(Tokenizer())
    sampling.verify(vocab_size=1_000)
    unknown = sorted(set(asked["body"]) - set(CompletionRequest.model_fields))
    json.dump(
        {
            "prompt": prompt,
            "top_k": sampling.top_k,
            "cache_salt": request.cache_salt,
            "priority": request.priority,
            "unknown": unknown,
            "owner": ModelCard(id=request.model).owned_by,
            "events": events(request.model),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
