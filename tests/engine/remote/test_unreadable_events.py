"""Odd bodies of answers: bytes that are no JSON, and lines in very many pieces."""

from collections.abc import Iterable
from itertools import chain, repeat
from pathlib import Path
from typing import cast

import pytest

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.remote.dialects.generation import UnusableAnswer
from intarsia.engine.remote.dialects.llama_cpp import LlamaCpp
from intarsia.engine.remote.dialects.sglang import Sglang
from intarsia.engine.remote.dialects.text_servers import LmStudio, Mlx, Ollama
from intarsia.engine.remote.dialects.vllm import Vllm
from intarsia.engine.remote.dialects.vllm_canvas import VllmCanvas
from intarsia.engine.remote.fill.link import pieces
from intarsia.engine.remote.http.exchange import Answer
from intarsia.engine.remote.settings.remotes import parse_remotes

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

REMOTE = parse_remotes('[there]\nurl = "http://127.0.0.1:9"\n', Path("remotes.toml"))["there"]


@pytest.mark.parametrize("data", [b"{]", b'{"model":"\xff"}', b'{"other":' + b"[" * 100_000])
@pytest.mark.parametrize("kind", PARSERS)
def test_what_is_no_json_is_unusable(kind: str, data: bytes) -> None:
    with pytest.raises(UnusableAnswer):
        PARSERS[kind](data)


def lines_of(body: Iterable[bytes]) -> list[bytes]:
    answer = Answer(status=200, headers={}, body=iter(body))
    return list(pieces(REMOTE, "/fill", answer, "lines"))


def test_a_line_that_comes_byte_by_byte_costs_its_length() -> None:
    """Joining it again for each byte would take longer than the time limit of tests."""
    (line,) = lines_of(chain(repeat(b"x", 3_000_000), [b"\n"]))
    assert line == b"x" * 3_000_000


@pytest.mark.parametrize("num_bytes", range(1, 9))
def test_lines_are_the_same_in_pieces_of_any_length(num_bytes: int) -> None:
    body = b"\n\none\ntwo\n\n three\nunfinished"
    cut = [body[at : at + num_bytes] for at in range(0, len(body), num_bytes)]
    assert lines_of(cut) == [b"one", b"two", b"three"]
