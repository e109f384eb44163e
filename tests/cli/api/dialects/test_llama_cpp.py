"""llama.cpp's API: real HTTP over a real socket, to an engine that fills by rules."""

import asyncio
import json
from typing import Any

import pytest
from api_desk import Desk

from intarsia.engine.ipc.messages import Prefetch

HOLE = {"input_prefix": "def add(a, b):\n", "prompt": "    return ", "input_suffix": "\n\nadd(1)\n"}
EXTRA = [
    {"text": "def one():\n    return 1\n", "filename": "/home/me/shop/src/one.py", "time": 1},
    {"text": "def two():\n    return 2\n", "filename": "two.py"},
]


async def infill(desk: Desk, **fields: Any) -> Any:
    reply = await desk.post("/infill", HOLE | fields)
    assert reply.status == 200, reply.body
    return reply.json


async def test_both_sides_reach_the_engine(desk: Desk):
    answer = await infill(desk, n_predict=32, stop=["<|x|>"], top_k=40, samplers=["infill"])
    assert (answer["content"], answer["stop"], answer["stop_type"]) == ("a + b", True, "eos")
    assert answer["model"] == "rules"
    (fill,) = desk.fills
    assert fill.prefix + fill.given == HOLE["input_prefix"] + HOLE["prompt"]
    assert HOLE["input_suffix"].startswith(fill.suffix)
    assert fill.max_tokens == 32
    assert "<|x|>" in fill.stop


async def test_the_timings_are_those_of_the_engine(desk: Desk):
    timings = (await infill(desk))["timings"]
    assert timings["predicted_n"] == 3
    assert timings["prompt_n"] > 0
    for name in ("prompt", "predicted"):
        assert timings[f"{name}_ms"] >= 0
        assert timings[f"{name}_per_second"] >= 0


async def test_only_the_fields_that_are_asked_for_are_answered(desk: Desk):
    fields = ["content", "timings/predicted_n", "truncated", "tokens_cached", "no", "content/no"]
    answer = await infill(desk, response_fields=fields)
    assert answer == {
        "content": "a + b",
        "timings/predicted_n": 3,
        "truncated": False,
        "tokens_cached": 0,
    }


async def test_the_content_has_no_blank_before_it(desk: Desk):
    """llama.vim looks for ``"content":"`` before it reads the JSON."""
    reply = await desk.post("/infill", HOLE)
    assert b'"content":"a + b"' in reply.body


async def test_a_stream_has_the_text_and_an_end(desk: Desk):
    reply = await desk.post("/infill", HOLE | {"stream": True})
    assert reply.headers["content-type"].startswith("text/event-stream")
    text, end = reply.events
    assert (text["content"], text["stop"]) == ("a + b", False)
    assert (end["content"], end["stop"], end["timings"]["predicted_n"]) == ("", True, 3)


async def test_the_newest_other_file_tells_the_language(start_api):
    block = {"input_prefix": "def f(a):\n", "prompt": "", "input_suffix": "\n"}
    async with start_api(lambda _: "    return a") as desk:
        await infill(desk, **block, input_extra=EXTRA)
        await infill(desk, **block)
        first, second = desk.fills
        assert first.max_tokens > second.max_tokens, "a block, and one line"


async def test_a_request_for_no_text_has_the_other_files_read_in_idle_time(start_api):
    read: list[Prefetch] = []
    is_read, loop = asyncio.Event(), asyncio.get_running_loop()

    def prefetch(place: Prefetch, _: object) -> None:
        read.append(place)
        loop.call_soon_threadsafe(is_read.set)

    async with start_api(prefetch=prefetch) as desk:
        await desk.complete(prompt="return ")  # so that the model is loaded
        answer = await infill(
            desk, input_prefix="", input_suffix="", prompt="", input_extra=EXTRA, n_predict=0
        )
        assert answer["content"] == ""
        async with asyncio.timeout(10):
            await is_read.wait()
        assert len(desk.fills) == 1
    assert [chunk.path for chunk in read[0].project.chunks] == ["shop/src/one.py", "two.py"]


async def test_the_writing_time_ends_a_block_after_a_whole_line(start_api):
    body = "    a = 1\n    b = 2\n    c = 3\n    return a"
    block = {"input_prefix": "def f():\n", "prompt": "", "input_suffix": "\n", "language": "python"}
    async with start_api(lambda _: body, step_seconds=0.05) as desk:
        cut = await infill(desk, **block, t_max_predict_ms=300)
        assert body.startswith(cut["content"])
        assert cut["content"].split("\n")[-1] in body.split("\n")[:-1]
        assert (cut["stop_type"], cut["model"]) == ("limit", "qwen2.5-coder-0.5b")
        whole = await infill(desk, **block, t_max_predict_ms=60_000)
        assert (whole["content"], whole["model"]) == (body, "rules")


async def test_the_writing_time_never_cuts_a_line(start_api):
    async with start_api(lambda _: "a + b + c + d", step_seconds=0.02) as desk:
        assert (await infill(desk, t_max_predict_ms=1))["content"] == "a + b + c + d"


async def test_a_completion_reads_marks_in_its_prompt(desk: Desk):
    prompt = "<|fim_prefix|>x = <|fim_suffix|>\ny = 2\n<|fim_middle|>"
    for path in ("/completion", "/completions"):
        fields = {"prompt": prompt, "n_predict": -1, "stream": True, "max_tokens": None}
        reply = await desk.post(path, fields)
        assert [event["content"] for event in reply.events] == ["a + b", ""]
    assert (desk.fills[0].prefix + desk.fills[0].given, desk.fills[0].suffix) == (
        "x = ",
        "\ny = 2\n",
    )


async def test_twinny_s_name_of_the_limit_counts(desk: Desk):
    await desk.post("/completion", {"prompt": "x = ", "max_tokens": 7})
    assert desk.fills[0].max_tokens == 7


async def test_what_clients_ask_before(desk: Desk):
    assert (await desk.ask("GET", "/health")).json == {"status": "ok"}
    props = (await desk.ask("GET", "/props?model=x&autoload=false")).json
    assert props["default_generation_settings"]["n_ctx"] > 0
    await infill(desk)
    assert (await desk.ask("GET", "/props")).json["model_alias"] == "rules"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("input_prefix", 1),
        ("input_extra", [{"filename": "x"}]),
        ("n_predict", "many"),
        ("stop", 1),
        ("response_fields", "content"),
        ("n_cmpl", 0),
    ],
)
async def test_a_field_of_another_type_is_named(desk: Desk, field: str, value: object):
    reply = await desk.post("/infill", HOLE | {field: value})
    assert reply.status == 400
    assert field in reply.json["error"]["message"]
    assert desk.fills == []


async def test_a_missing_side_is_named(desk: Desk):
    for field in ("input_prefix", "input_suffix"):
        fields = {name: text for name, text in HOLE.items() if name != field}
        reply = await desk.ask("POST", "/infill", json.dumps(fields).encode())
        assert (reply.status, field in reply.json["error"]["message"]) == (400, True)
