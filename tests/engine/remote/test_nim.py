"""NVIDIA NIM, which is asked as vLLM is. No NIM was run: the answers follow its documentation.

``MODELS`` and ``READY`` are the examples of docs.nvidia.com/nim (vision language models 1, API
reference); ``VERSION`` has the fields that its API reference names for ``/v1/version``. Completions
and ``/tokenize`` are vLLM's, says the reference of NIM LLM 2.
"""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from http_server import Respond, answer, begin_events, serving
from remote_settings import RemoteSettings
from toy_causal_fill import run_fill
from toy_causal_tokenizer import toy_tokenizer
from vllm_double import USAGE, token, tokenized

from intarsia.cli.remote.probe import described, probe
from intarsia.engine.errors import RemoteError
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.remote.filler import RemoteFiller

MODELS = (
    b'{"object":"list","data":[{"id":"meta/llama-3.2-11b-vision-instruct","object":"model",'
    b'"created":1724796510,"owned_by":"system","root":"meta/llama-3.2-11b-vision-instruct",'
    b'"parent":null,"max_model_len":131072,"permission":[{"id":'
    b'"modelperm-c2e069f426cc43088eb408f388578289","object":"model_permission","created":'
    b'1724796510,"allow_create_engine":false,"allow_sampling":true,"allow_logprobs":true,'
    b'"allow_search_indices":false,"allow_view":true,"allow_fine_tuning":false,"organization":"*",'
    b'"group":null,"is_blocking":false}]}]}'
)
READY = b'{"object":"health.response","message":"Service is ready."}'
VERSION = b'{"release":"2.0.1","api":"1.0.0"}'


def nim(*, owner: str = "system", ready: int = 200, asked: list[dict[str, Any]]) -> Respond:
    """Return a server that answers as a NIM with the toy tokenizer."""
    fixed = {
        "/v1/models": (MODELS.replace(b'"system"', f'"{owner}"'.encode()), 200),
        "/v1/version": (VERSION, 200),
        "/v1/health/ready": (READY, ready),
    }

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        if path in fixed:
            content, status = fixed[path]
            answer(connection, content, status=status)
        elif path == "/tokenize":
            answer(connection, tokenized(body))
        elif path == "/v1/completions":
            asked.append(json.loads(body))
            begin_events(connection)
            ids = toy_tokenizer().encode("ab").ids
            events = [token(ids[0]), token(ids[-1], "length"), USAGE]
            connection.sendall(b"".join(b"data: " + event + b"\n\n" for event in events))
        else:
            answer(connection, b"{}", status=404)

    return respond


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the toy tokenizer."""
    toy_tokenizer().save(str(tmp_path / "tokenizer.json"))
    return tmp_path


@pytest.mark.parametrize("owner", ["system", "vllm"])
def test_a_hole_is_filled_as_on_vllm(settings: RemoteSettings, folder: Path, owner: str) -> None:
    asked: list[dict[str, Any]] = []
    with serving(nim(owner=owner, asked=asked)) as server:
        remote = settings.write(server.url, tokenizer=folder)
        filler = RemoteFiller(remote, max_context_tokens=2_048)
        filled = run_fill(filler, Fill(id=1, prefix="x = ", suffix="\n", max_tokens=2))
    assert filled.text == "ab"
    assert filler.info.family == "NIM"
    assert asked[0]["model"] == "meta/llama-3.2-11b-vision-instruct"
    assert "suffix" not in asked[0]


def test_it_is_said_that_no_nim_was_run(settings: RemoteSettings, folder: Path) -> None:
    with serving(nim(asked=[])) as server:
        found = probe(settings.write(server.url, tokenizer=folder))
    rows = list(described(found))
    assert found.is_usable
    assert ("server", "NIM 2.0.1") in rows and ("context", "131,072 tokens") in rows
    assert any(row == "lost" and "NVIDIA's documentation alone" in line for row, line in rows)


def test_a_model_that_is_loading_is_busy(settings: RemoteSettings, folder: Path) -> None:
    with serving(nim(ready=503, asked=[])) as server:
        filler = RemoteFiller(settings.write(server.url, tokenizer=folder), max_context_tokens=99)
        with pytest.raises(RemoteError, match="is busy") as caught:
            run_fill(filler, Fill(id=1, prefix="x = ", suffix="\n"))
    assert caught.value.code == "busy"
