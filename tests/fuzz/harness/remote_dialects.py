"""A remote server of the fuzz targets, and every way to read what such a server answers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from intarsia.engine.remote.dialects.generation import AnswerForm, ServerBusy, UnusableAnswer
from intarsia.engine.remote.dialects.llama_cpp import LlamaCpp
from intarsia.engine.remote.dialects.sglang import Sglang
from intarsia.engine.remote.dialects.text_servers import LmStudio, Ollama
from intarsia.engine.remote.dialects.vllm import Vllm
from intarsia.engine.remote.dialects.vllm_canvas import VllmCanvas
from intarsia.engine.remote.settings.remotes import Remote, parse_remotes

REMOTE: Remote = parse_remotes('[there]\nurl = "http://127.0.0.1:9"\n', Path("remotes.toml"))[
    "there"
]

READERS: Mapping[str, tuple[AnswerForm, Callable[[bytes], Any]]] = {
    "llama.cpp": ("events", LlamaCpp().parse),
    "vLLM": ("events", Vllm("m", cache_salt="s").parse),
    "vLLM's canvas": ("events", VllmCanvas("m", cache_salt="s").parse),
    "SGLang": ("events", Sglang("m", cache_salt="s", id_of=len).parse),
    "LM Studio": ("events", LmStudio("m").parse),
    "Ollama": ("lines", Ollama("m").parse),
}
"""How an answer is cut and read, by the kind of server."""

EVENTS = (
    b'{"tokens":[1,2],"stop":true,"stop_type":"word","timings":{"prompt_n":3,"prompt_ms":-1.5},'
    b'"completion_probabilities":[{"id":1,"logprob":-0.5},{"id":2,"logprob":null}]}',
    b'{"choices":[{"text":"a","logprobs":{"tokens":["token_id:5"],"token_logprobs":[-1.0],'
    b'"top_logprobs":[{"token_id:5":-1.0}]},"finish_reason":"stop","stop_reason":"x"}]}',
    b'{"choices":[{"text":"a","token_ids":[5],"logprobs":{"tokens":["a"],"token_logprobs":[null],'
    b'"top_logprobs":[{"a":-1.0,"\xc3\xa9":null}]},"finish_reason":"length"}],"model":"m"}',
    b'{"choices":[],"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}}',
    b'{"model":"m","response":"a","done":true,"done_reason":"stop","logprobs":[{"token":"a",'
    b'"logprob":-0.1,"top_logprobs":[{"logprob":-0.1},{"logprob":null}]}]}',
    b'{"error":{"message":"busy\\n\\u001b","code":503}}',
    b'{"error":"no"}',
    b"[DONE]",
)


def read(parse: Callable[[bytes], Any], data: bytes) -> object:
    """Return what an event says, or why it cannot be read."""
    try:
        return parse(data)
    except (UnusableAnswer, ServerBusy) as error:
        return type(error), str(error)
