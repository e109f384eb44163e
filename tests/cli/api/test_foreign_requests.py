"""Requests of other projects' clients, as each sends them, and reads the answers.

``tests/data/api_requests`` has one file for each, which says whether it was recorded from the
client, or written after its source.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from api_desk import Desk, Reply
from checkout import ROOT

from intarsia.engine.ipc.messages import Fill

REQUESTS = ROOT / "tests" / "data" / "api_requests"
FILES = sorted(REQUESTS.glob("*.json"))
ANSWER, BLOCK = "a + b", "    return a"


def openai(reply: Reply) -> str:
    """Continue, minuet and Zed: ``choices[0].text`` of the answer, or of each event."""
    if reply.headers["content-type"].startswith("text/event-stream"):
        return "".join(event["choices"][0]["text"] for event in reply.events if event != b"[DONE]")
    return str(reply.json["choices"][0]["text"])


def llama_cpp(reply: Reply) -> str:
    """llama.vim, llama.vscode, Continue, twinny: ``content`` of the answer, or of each event."""
    if reply.headers["content-type"].startswith("text/event-stream"):
        return "".join(event["content"] for event in reply.events)
    answers = reply.json if isinstance(reply.json, list) else [reply.json]
    return str(answers[0].get("content", ""))


def ollama(reply: Reply) -> str:
    """Continue, twinny and Zed: ``response`` of the answer, or of each line."""
    return "".join(line.get("response", "") for line in reply.lines)


READ: dict[str, Callable[[Reply], str]] = {
    "/v1/completions": openai,
    "/infill": llama_cpp,
    "/completion": llama_cpp,
    "/api/generate": ollama,
}


def load(path: Path) -> list[dict[str, Any]]:
    requests: list[dict[str, Any]] = json.loads(path.read_text())["requests"]
    return requests


async def send(desk: Desk, request: dict[str, Any]) -> Reply:
    if request["body"] is None:
        return await desk.ask("GET", request["path"])
    return await desk.post(request["path"], request["body"])


def is_for_text(request: dict[str, Any]) -> bool:
    return request["path"] in READ and request["body"].get("n_predict") != 0


async def fill_of(desk: Desk, name: str) -> Fill:
    """Send what a client sends; return what the engine is asked first."""
    for request in load(REQUESTS / f"{name}.json"):
        assert (await send(desk, request)).status == 200
    return desk.fills[0]


@pytest.mark.parametrize("name", [path.stem for path in FILES])
async def test_each_request_is_answered_in_the_form_that_its_client_reads(start_api, name):
    requests = load(REQUESTS / f"{name}.json")
    assert any(is_for_text(request) for request in requests)
    async with start_api(lambda fill: BLOCK if fill.min_indent else ANSWER) as desk:
        for request in requests:
            reply = await send(desk, request)
            assert reply.status == 200, reply.body
            if is_for_text(request):
                assert READ[request["path"]](reply) in (ANSWER, BLOCK)


@pytest.mark.parametrize(
    "name", [path.stem for path in FILES if not path.stem.startswith(("llama_vim", "minuet"))]
)
async def test_both_sides_of_the_hole_reach_the_engine(desk: Desk, name: str):
    fill = await fill_of(desk, name)
    before = "def total(cart: Cart) -> int:\n    return "
    assert (fill.prefix + fill.given).endswith(before)
    assert fill.suffix.startswith("\n\n\nprint(total(Cart()))")
    assert "<|" not in fill.prefix + fill.suffix
    assert fill.max_open is not None, "the language is known, so brackets count"


@pytest.mark.parametrize(
    ("name", "repository", "path", "other"),
    [
        ("continue_ollama", "shop", "main.py", "cart.py"),
        ("continue_llama_cpp", "shop", "main.py", "cart.py"),
        ("llama_vscode", "untitled", "untitled.py", "me/shop/cart.py"),
        ("llama_vim_block", "untitled", "untitled.py", "two.py"),
        ("twinny_ollama", "untitled", "me/shop/main.py", "untitled"),
    ],
)
async def test_the_other_files_reach_the_engine(desk, name, repository, path, other):
    project = (await fill_of(desk, name)).project
    assert (project.repository, project.path) == (repository, path)
    assert project.chunks[0].path == other
    assert "class Cart:" in project.chunks[0].text or "def area" in project.chunks[0].text


async def test_whole_floats_and_half_an_emoji_are_read(desk: Desk):
    reply = await desk.complete(prompt="a = '\ud83d", suffix="'", max_tokens=8.0, n=1.0)
    assert reply.status == 200
    assert "'\ufffd" in desk.fills[-1].prefix + desk.fills[-1].given
    assert (await desk.complete(prompt="a = ", max_tokens=8.5)).status == 400


async def test_llama_vscode_reads_a_list_of_texts(start_api):
    async with start_api(lambda fill: f"a + {fill.alternative}") as desk:
        _, infill, _ = load(REQUESTS / "llama_vscode.json")
        reply = await send(desk, infill)
        assert [each["content"] for each in reply.json] == ["a + 0", "a + 1", "a + 2"]
