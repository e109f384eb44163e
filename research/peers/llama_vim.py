"""Ask a llama.cpp server without our engine, as llama.vim does."""

from collections.abc import Mapping
from typing import Any

from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.remote.http.exchange import ask_json
from intarsia.engine.remote.http.watch import Watch
from intarsia.engine.remote.settings.remotes import Remote

_TIME_LIMIT_S = 600.0
_NUM_PREFIX_LINES = 256
_NUM_SUFFIX_LINES = 64


def ask_as_llama_vim(remote: Remote, before: str, after: str) -> int:
    """Send llama.vim's request for a cursor; return the number of prompt tokens that were read.

    Follows ``llama#fim`` of ggml-org/llama.vim a1c8e6e, without chunks of other files.
    """
    answer = ask_json(remote, "/infill", _watch(), llama_vim_request(before, after))
    return int(answer["timings"]["prompt_n"])


def llama_vim_request(before: str, after: str) -> Mapping[str, Any]:
    """Return the body of its request, with its default settings."""
    above, _, typed = before.rpartition("\n")
    rest, _, below = after.partition("\n")
    if not (typed + rest).strip():
        typed = rest = ""
    return {
        "id_slot": 0,
        "input_prefix": "\n".join(above.split("\n")[-_NUM_PREFIX_LINES:]) + "\n",
        "input_suffix": f"{rest}\n" + "\n".join(below.split("\n")[:_NUM_SUFFIX_LINES]) + "\n",
        "input_extra": [],
        "prompt": typed,
        "n_predict": 128,
        "stop": [],
        "n_indent": len(typed) - len(typed.lstrip()),
        "top_k": 40,
        "top_p": 0.90,
        "samplers": ["top_k", "top_p", "infill"],
        "stream": False,
        "cache_prompt": True,
        "t_max_prompt_ms": 500,
        "t_max_predict_ms": 250,
    }


def _watch() -> Watch:
    return Watch(checkpoint=NO_CONTROL.checkpoint, silence_s=_TIME_LIMIT_S, total_s=_TIME_LIMIT_S)
