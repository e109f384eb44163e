"""Answers of vLLM's server as it was recorded, for a model with the toy tokenizer."""

import json

from toy_causal_tokenizer import toy_tokenizer

from intarsia.engine.families.masked_causal.tokens.fim_marks import KNOWN_MARKS
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer

USAGE = (
    b'{"id":"cmpl-b1033628d5300f92","object":"text_completion","created":1795451497,"model":"qwen",'
    b'"choices":[],"usage":{"prompt_tokens":40,"total_tokens":43,"completion_tokens":3,'
    b'"prompt_tokens_details":{"cached_tokens":16}},"system_fingerprint":"vllm-0.32.0-ed24d31c"}'
)
"""The event that ends an answer."""


def token(id: int, finish: str | None = None) -> bytes:
    """Return the event of one token."""
    scored = {
        "tokens": [f"token_id:{id}"],
        "token_logprobs": [-0.1],
        "top_logprobs": [{f"token_id:{id}": -0.1}],
    }
    choice = {"index": 0, "logprobs": scored, "finish_reason": finish, "stop_reason": None}
    return json.dumps({"model": "toy", "choices": [choice]}).encode()


def tokenized(body: bytes) -> bytes:
    """Return the answer of ``/tokenize``, SGLang's and NIM's too."""
    text = FimTokenizer(toy_tokenizer(), KNOWN_MARKS[0])
    content, marks = json.loads(body)["prompt"], text.fim_marks()
    ids = [marks[content]] if content in marks else text.encode(content)
    return json.dumps({"tokens": ids}).encode()
