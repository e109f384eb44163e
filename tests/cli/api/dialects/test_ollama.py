"""Ollama's API: real HTTP over a real socket, to an engine that fills by rules."""

from datetime import datetime

import pytest
from api_desk import Desk

PROMPT, SUFFIX = "def add(a, b):\n    return ", "\n\nadd(1)\n"


async def test_a_prompt_and_its_suffix_are_completed(desk: Desk):
    fields = {"model": "any", "prompt": PROMPT, "suffix": SUFFIX, "stream": False}
    options = {"num_predict": 32, "stop": ["<|x|>"], "temperature": 0.2, "num_ctx": 2048}
    reply = await desk.post("/api/generate", fields | {"options": options, "keep_alive": "5m"})
    answer = reply.json
    assert (reply.status, answer["response"], answer["done"]) == (200, "a + b", True)
    assert (answer["model"], answer["done_reason"], answer["eval_count"]) == ("rules", "stop", 3)
    assert answer["total_duration"] > 0
    assert datetime.fromisoformat(answer["created_at"]).tzinfo is not None
    (fill,) = desk.fills
    assert (fill.prefix + fill.given, fill.max_tokens) == (PROMPT, 32)
    assert SUFFIX.startswith(fill.suffix)
    assert "<|x|>" in fill.stop


async def test_it_streams_lines_unless_told_not_to(desk: Desk):
    reply = await desk.post("/api/generate", {"model": "any", "prompt": PROMPT, "suffix": SUFFIX})
    assert reply.headers["content-type"].startswith("application/x-ndjson")
    text, end = reply.lines
    assert (text["response"], text["done"]) == ("a + b", False)
    assert (end["response"], end["done"], end["eval_count"]) == ("", True, 3)


async def test_a_cut_answer_says_so(start_api):
    async with start_api(lambda _: "a + b + c + d") as desk:
        fields = {"prompt": PROMPT, "options": {"num_predict": 2}, "stream": False}
        assert (await desk.post("/api/generate", fields)).json["done_reason"] == "length"


@pytest.mark.parametrize("number", [-1, -2, 0])
async def test_a_limit_of_none_is_that_of_the_hole(desk: Desk, number: int):
    fields = {"prompt": PROMPT, "options": {"num_predict": number}, "stream": False}
    assert (await desk.post("/api/generate", fields)).json["response"] == "a + b"


async def test_an_empty_prompt_loads_the_model(desk: Desk):
    assert (await desk.ask("GET", "/api/tags")).json["models"][0]["name"] == "qwen2.5-coder-0.5b"
    reply = await desk.post("/api/generate", {"model": "any"})
    assert (reply.json["done"], reply.json["done_reason"]) == (True, "load")
    assert (await desk.ask("GET", "/api/tags")).json["models"][0]["name"] == "rules"
    assert desk.fills == []


async def test_what_clients_ask_before(desk: Desk):
    assert (await desk.ask("GET", "/")).status == 200
    assert (await desk.ask("GET", "/api/version")).json["version"]
    shown = (await desk.post("/api/show", {"name": "any"})).json
    assert ".Suffix" in shown["template"], "Continue sends a suffix only then"
    assert shown["parameters"].startswith("num_ctx ")
    assert "insert" in shown["capabilities"]
    assert (await desk.ask("GET", "/api/ps")).json["models"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"prompt": 1}, "$.prompt"),
        ({"prompt": "x", "suffix": []}, "$.suffix"),
        ({"prompt": "x", "stream": "no"}, "$.stream"),
        ({"prompt": "x", "options": []}, "$.options"),
        ({"prompt": "x", "options": {"num_predict": "many"}}, "$.options.num_predict"),
        ({"prompt": "x", "options": {"stop": 1}}, "$.options.stop"),
    ],
)
async def test_a_field_of_another_type_is_named(desk: Desk, fields: dict[str, object], says: str):
    reply = await desk.post("/api/generate", fields)
    assert reply.status == 400
    assert says in reply.json["error"]
