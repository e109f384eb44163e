"""Which server takes text, and what is said of it before a hole is filled there.

Ollama's answers follow its page on the API and openai/openai.go of ollama/ollama, LM Studio's the
pages of lmstudio.ai/docs on REST API v0 and OpenAI compatibility. Neither was run. mlx-lm is run by
``tests/live_engines/test_mlx.py``.
"""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from http_server import Respond, answer, begin_events, serving
from remote_settings import RemoteSettings
from text_double import ROW, SHOWN, last_line, line, mlx_answer, mlx_answers, ollama_answers
from toy_causal_fill import run_fill

from intarsia.cli.remote import Probe, described, probe
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Fill, Filled, Prefetch
from intarsia.engine.remote.dialects.generation import ServerBusy, UnusableAnswer
from intarsia.engine.remote.dialects.text_servers import Ollama
from intarsia.engine.remote.filler import RemoteFiller

LM_STUDIO_MODELS = (
    b'{"data":[{"id":"qwen2.5-coder-0.5b","object":"model","owned_by":"organization_owner"}],'
    b'"object":"list"}'
)
LM_STUDIO_DETAILS = (
    b'{"object":"list","data":[{"id":"qwen2.5-coder-0.5b","object":"model","type":"llm",'
    b'"publisher":"lmstudio-community","arch":"llama","compatibility_type":"gguf",'
    b'"quantization":"Q4_K_M","state":"not-loaded","max_context_length":131072}]}'
)
LOADED = LM_STUDIO_DETAILS.replace(
    b'"state":"not-loaded"', b'"state":"loaded","loaded_context_length":16384'
)
EMBEDDINGS = LM_STUDIO_DETAILS.replace(b'"llm"', b'"embeddings"')


@pytest.fixture
def ask(settings: RemoteSettings, toy_folder: Path):
    """Return a function that probes a server, and fills a hole there if it can."""

    def ask(respond: Respond, **options: object) -> tuple[Probe, Filled | None]:
        with serving(respond) as server:
            remote = settings.write(server.url, tokenizer=toy_folder, timeout_s=5, **options)
            found = probe(remote)
            if not found.is_usable:
                return found, None
            filler = RemoteFiller(remote, max_context_tokens=2_048)
            filled = run_fill(filler, Fill(id=1, prefix="x =", suffix="\n", stop=("\n",)))
            filler.prefetch(Prefetch(prefix="y =", suffix="\n"), NO_CONTROL)
            return found, filled

    return ask


def rows_of(found: Probe) -> dict[str, str]:
    """Return the first sentence of each row that is shown."""
    return dict(reversed(list(described(found))))


def lost(found: Probe) -> str:
    return " ".join(sentence for name, sentence in described(found) if name == "lost")


def lm_studio(details: bytes | None, asked: list[dict[str, Any]]) -> Respond:
    """Return an LM Studio that completes as its OpenAI form says."""

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        if path == "/v1/models":
            answer(connection, LM_STUDIO_MODELS)
        elif path == "/api/v0/models" and details is not None:
            answer(connection, details)
        elif path == "/v1/completions":
            asked.append(json.loads(body))
            begin_events(connection)
            for text, finish in ((" v", None), ("al", None), ("", "stop")):
                choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
                event = {"object": "text_completion", "model": "toy", "choices": [choice]}
                connection.sendall(b"data: " + json.dumps(event).encode() + b"\n\n")
            connection.sendall(b"data: [DONE]\n\n")
        else:
            answer(connection, b"{}", status=404)

    return respond


def test_ollama_fills_and_says_what_is_lost(ask) -> None:
    asked: list[dict[str, Any]] = []

    def write(request: dict[str, Any]) -> list[bytes]:
        asked.append(request)
        return [line(" val"), last_line()]

    found, filled = ask(ollama_answers(write))
    assert filled is not None and filled.text == " val"
    shown = rows_of(found)
    assert (shown["server"], shown["model"]) == ("Ollama 0.12.11", "toy:latest (Q4_0)")
    assert shown["context"] == "8,192 tokens"
    assert "marks of" in shown["tokenizer"]
    assert "<|fim_middle|>" in lost(found) and "never run" in lost(found)
    assert len(asked) == 1, "nothing is read ahead"
    assert asked[0]["model"] == "toy:latest"


@pytest.mark.parametrize("owner", ["library", "somebody", ""])
def test_ollama_is_told_by_its_own_api(ask, owner: str) -> None:
    """It names the namespace of a model as its owner."""
    listed = {"data": [ROW | {"owned_by": owner}]}
    found, _ = ask(ollama_answers(lambda _: [line("1"), last_line()], v1_models=listed))
    assert found.server is not None and found.server.system == "Ollama"


def test_a_model_of_ollamas_cloud_is_refused(ask) -> None:
    shown = SHOWN | {"remote_host": "https://ollama.com:443", "remote_model": "big"}
    found, _ = ask(ollama_answers(lambda _: [], api_show=shown))
    assert "code would go there" in str(found.problem) and "ollama.com" in str(found.problem)


@pytest.mark.parametrize(
    ("models", "options", "problem"),
    [
        ([ROW, ROW | {"id": "chat:8b"}], {}, "several models (toy:latest, chat:8b)"),
        ([], {}, "has no model"),
        ([ROW], {"model": "other"}, "has no model 'other' (it has: toy:latest)"),
    ],
)
def test_one_model_is_to_be_chosen(ask, models, options, problem):
    found, _ = ask(ollama_answers(lambda _: [], v1_models={"data": models}), **options)
    assert problem in str(found.problem)


def test_a_models_name_may_lack_its_tag(ask) -> None:
    models = {"data": [ROW | {"id": "chat:8b"}, ROW]}
    answers = ollama_answers(lambda _: [line("1"), last_line()], v1_models=models)
    found, _ = ask(answers, model="toy")
    assert found.server is not None and found.server.model == "toy:latest"


@pytest.mark.parametrize(
    ("data", "error", "problem"),
    [
        (b'{"error":"server busy, please try again"}', ServerBusy, "busy"),
        (b'{"error":"the input exceeds the context length"}', UnusableAnswer, "context length"),
        (b'{"response":"x","remote_host":"https://ollama.com"}', UnusableAnswer, "code went there"),
        (b"[]", UnusableAnswer, "not Ollama's"),
    ],
)
def test_a_line_of_something_else(data: bytes, error: type[Exception], problem: str) -> None:
    with pytest.raises(error, match=problem):
        Ollama("toy").parse(data)


@pytest.mark.parametrize(
    ("details", "context", "model"),
    [
        (LOADED, "16,384 tokens", "qwen2.5-coder-0.5b (Q4_K_M)"),
        (LM_STUDIO_DETAILS, "4,096 tokens", "qwen2.5-coder-0.5b (Q4_K_M)"),
        (None, "4,096 tokens", "qwen2.5-coder-0.5b"),
    ],
)
def test_lm_studio_fills_and_says_what_is_lost(ask, details, context, model):
    asked: list[dict[str, Any]] = []
    found, filled = ask(lm_studio(details, asked))
    assert filled is not None and filled.text == " val"
    assert [token.confidence for token in filled.tokens] == [None, None]
    shown = rows_of(found)
    assert (shown["server"], shown["model"], shown["context"]) == ("LM Studio", model, context)
    assert "probability" in lost(found) and "never run" in lost(found)
    assert len(asked) == 1 and isinstance(asked[0]["prompt"], str) and "suffix" not in asked[0]


def test_an_embedding_model_is_refused(ask) -> None:
    found, _ = ask(lm_studio(EMBEDDINGS, []))
    assert "writes no text" in str(found.problem)


@pytest.mark.parametrize(
    "listed", [b'{"object": "list", "data": [{"id": "/toy", "object": "model"}]}', b""]
)
def test_mlx_is_told_by_its_health(ask, listed: bytes) -> None:
    """Its list is empty where the user has no folder of downloads."""
    asked: list[dict[str, Any]] = []

    def write(request: dict[str, Any]) -> bytes:
        asked.append(request)
        return mlx_answer(" val", finish="stop")

    found, filled = ask(mlx_answers(write, listed=listed))
    assert filled is not None and filled.text == " val"
    assert found.server is not None and found.server.system == "MLX"
    assert asked[0]["model"] == "default_model", "any other name would load another model"
