"""Bytes that are no JSON at all are an unusable answer in every dialect, not an internal error."""

from typing import cast

import pytest

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.remote.dialects.generation import UnusableAnswer
from intarsia.engine.remote.dialects.llama_cpp import LlamaCpp
from intarsia.engine.remote.dialects.lm_studio import LmStudio
from intarsia.engine.remote.dialects.mlx import Mlx
from intarsia.engine.remote.dialects.ollama import Ollama
from intarsia.engine.remote.dialects.sglang import Sglang
from intarsia.engine.remote.dialects.vllm import Vllm
from intarsia.engine.remote.dialects.vllm_canvas import VllmCanvas

NO_TOKENIZER = cast(FimTokenizer, None)  # the answer is refused before its tokens are read

PARSERS = {
    "llama.cpp": LlamaCpp().parse,
    "vLLM": Vllm("m", cache_salt="s").parse,
    "vLLM's canvas": VllmCanvas("m", cache_salt="s").parse,
    "SGLang": Sglang("m", cache_salt="s", id_of=len).parse,
    "LM Studio": LmStudio("m").parse,
    "Ollama": Ollama("m").parse,
    "mlx-lm": Mlx("m", NO_TOKENIZER).parse,
}


@pytest.mark.parametrize("data", [b"{]", b'{"model":"\xff"}', b'{"other":' + b"[" * 100_000])
@pytest.mark.parametrize("kind", PARSERS)
def test_what_is_no_json_is_unusable(kind: str, data: bytes) -> None:
    with pytest.raises(UnusableAnswer):
        PARSERS[kind](data)
