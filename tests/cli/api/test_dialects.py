"""The APIs of OpenAI, llama.cpp and Ollama: real HTTP to an engine that fills by rules."""

import asyncio
import json
import math
from datetime import datetime
from typing import Any

import pytest
from api_desk import Desk

from intarsia.engine.ipc.messages import Prefetch

PREFIX, SUFFIX = "def add(a, b):\n    return ", "\n\nprint(add(1, 2))\n"
QWEN = f"<|fim_prefix|>{PREFIX}<|fim_suffix|>{SUFFIX}<|fim_middle|>"


async def test_a_qwen_prompt_is_completed(desk: Desk):
    reply = await desk.complete(model="any", prompt=QWEN, max_tokens=32, temperature=0.2)
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    choice = reply.json["choices"][0]
    assert (choice["text"], choice["finish_reason"], choice["index"]) == ("a + b", "stop", 0)
    assert reply.json["object"] == "text_completion"
    assert reply.json["model"] == "rules"
    usage = reply.json["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    (fill,) = desk.fills
    assert (fill.prefix + fill.given, fill.max_tokens) == (PREFIX, 32)
    assert SUFFIX.startswith(fill.suffix.rstrip("\n"))


async def test_the_answer_is_cleaned(start_api):
    """What follows the hole is not repeated, and no second line is begun."""
    async with start_api(lambda _: "a + b)\nprint(1)") as desk:
        reply = await desk.complete(prompt="x = (", suffix=")\n")
        assert reply.json["choices"][0]["text"] == "a + b"


async def test_stop_texts_and_limits_reach_the_engine(desk: Desk):
    reply = await desk.complete(prompt=QWEN, stop=["<|endoftext|>", "", " b"], seed=7)
    assert reply.json["choices"][0]["text"] == "a +"
    assert {"<|endoftext|>", " b"} <= set(desk.fills[0].stop)
    assert "" not in desk.fills[0].stop
    assert desk.fills[0].seed == 7
    await desk.complete(prompt=QWEN, max_tokens=10**9)
    assert desk.fills[1].max_tokens == 512


async def test_a_language_opens_the_body_behind_a_header(start_api):
    async with start_api(lambda _: "    return a\n    # and more") as desk:
        await desk.complete(prompt="def f(a):\n", language="python")
        await desk.complete(prompt="def f(a):\n")
        assert desk.fills[0].max_tokens > desk.fills[1].max_tokens


async def test_where_nothing_fits_the_text_is_empty(start_api):
    async with start_api(lambda _: "") as desk:
        reply = await desk.complete(prompt=QWEN)
        assert (reply.status, reply.json["choices"][0]["text"]) == (200, "")


async def test_null_is_the_same_as_no_field(desk: Desk):
    nothing = dict.fromkeys(
        ("suffix", "max_tokens", "stop", "stream", "stream_options", "n", "logprobs", "seed")
    )
    assert (await desk.complete(prompt=QWEN, **nothing)).json["choices"][0]["text"] == "a + b"


async def test_a_stream_is_one_event_and_its_end(desk: Desk):
    reply = await desk.complete(prompt=QWEN, stream=True)
    assert reply.headers["content-type"].startswith("text/event-stream")
    first, last = reply.events
    assert first["choices"][0]["text"] == "a + b"
    assert "usage" not in first
    assert last == b"[DONE]"


async def test_a_stream_ends_with_the_usage_if_that_is_asked_for(desk: Desk):
    reply = await desk.complete(prompt=QWEN, stream=True, stream_options={"include_usage": True})
    _, usage, _ = reply.events
    assert usage["choices"] == []
    assert usage["usage"]["completion_tokens"] == 3


async def test_several_texts_are_different_ones(start_api):
    async with start_api(lambda fill: f"a + {min(fill.alternative, 1)}") as desk:
        reply = await desk.complete(prompt=QWEN, n=3)
        assert [(c["index"], c["text"]) for c in reply.json["choices"]] == [
            (0, "a + 0"),
            (1, "a + 1"),
        ]
        stream = await desk.complete(prompt=QWEN, n=2, stream=True)
        assert [event["choices"][0]["index"] for event in stream.events[:-1]] == [0, 1]


async def test_the_model_s_confidence_is_told_as_logprobs(start_api):
    async with start_api(lambda _: "a + b)", unsure=["b"]) as desk:
        reply = await desk.complete(prompt="x = (", suffix=")\n", logprobs=1)
        logprobs = reply.json["choices"][0]["logprobs"]
        assert "".join(logprobs["tokens"]) == reply.json["choices"][0]["text"] == "a + b"
        assert logprobs["token_logprobs"] == [0.0, 0.0, math.log(0.3)]
        assert logprobs["text_offset"] == [0, 1, 3]
        for nothing in (None, False):
            reply = await desk.complete(prompt="x = (", suffix=")\n", logprobs=nothing)
            assert reply.json["choices"][0]["logprobs"] is None


async def test_a_stop_text_ends_the_answer_inside_brackets_too(start_api):
    async with start_api(lambda _: "f(\n    a,\n)") as desk:
        reply = await desk.complete(prompt="x = ", suffix="\n", stop="\n", language="python")
        assert reply.json["choices"][0]["text"] == "f("
        assert reply.json["choices"][0]["finish_reason"] == "stop"


async def test_the_model_is_named(desk: Desk):
    await desk.complete(prompt=QWEN)
    reply = await desk.ask("GET", "/v1/models?x=1")
    assert [model["id"] for model in reply.json["data"]] == ["rules"]


async def test_a_hole_in_a_secret_is_not_filled(desk: Desk):
    prompt = "<|repo_name|>shop\n<|file_sep|>deploy/secrets.yaml\n<|fim_prefix|>token: "
    reply = await desk.complete(prompt=f"{prompt}<|fim_suffix|>\n<|fim_middle|>")
    assert (reply.status, reply.json["choices"][0]["text"]) == (200, "")
    assert desk.fills == []


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


async def test_a_prompt_and_its_suffix_are_completed(desk: Desk):
    fields = {"model": "any", "prompt": PREFIX, "suffix": SUFFIX, "stream": False}
    options = {"num_predict": 32, "stop": ["<|x|>"], "temperature": 0.2, "num_ctx": 2048}
    reply = await desk.post("/api/generate", fields | {"options": options, "keep_alive": "5m"})
    answer = reply.json
    assert (reply.status, answer["response"], answer["done"]) == (200, "a + b", True)
    assert (answer["model"], answer["done_reason"], answer["eval_count"]) == ("rules", "stop", 3)
    assert answer["total_duration"] > 0
    assert datetime.fromisoformat(answer["created_at"]).tzinfo is not None
    (fill,) = desk.fills
    assert (fill.prefix + fill.given, fill.max_tokens) == (PREFIX, 32)
    assert SUFFIX.startswith(fill.suffix)
    assert "<|x|>" in fill.stop


async def test_it_streams_lines_unless_told_not_to(desk: Desk):
    reply = await desk.post("/api/generate", {"model": "any", "prompt": PREFIX, "suffix": SUFFIX})
    assert reply.headers["content-type"].startswith("application/x-ndjson")
    text, end = reply.lines
    assert (text["response"], text["done"]) == ("a + b", False)
    assert (end["response"], end["done"], end["eval_count"]) == ("", True, 3)


@pytest.mark.parametrize("number", [-1, -2, 0])
async def test_a_limit_of_none_is_that_of_the_hole(desk: Desk, number: int):
    fields = {"prompt": PREFIX, "options": {"num_predict": number}, "stream": False}
    assert (await desk.post("/api/generate", fields)).json["response"] == "a + b"


async def test_an_empty_prompt_loads_the_model(desk: Desk):
    assert (await desk.ask("GET", "/api/tags")).json["models"][0]["name"] == "qwen2.5-coder-0.5b"
    reply = await desk.post("/api/generate", {"model": "any"})
    assert (reply.json["done"], reply.json["done_reason"]) == (True, "load")
    assert (await desk.ask("GET", "/api/tags")).json["models"][0]["name"] == "rules"
    assert desk.fills == []


async def test_what_clients_of_ollama_ask_before(desk: Desk):
    assert (await desk.ask("GET", "/")).status == 200
    assert (await desk.ask("GET", "/api/version")).json["version"]
    shown = (await desk.post("/api/show", {"name": "any"})).json
    assert ".Suffix" in shown["template"], "Continue sends a suffix only then"
    assert shown["parameters"].startswith("num_ctx ")
    assert "insert" in shown["capabilities"]
    assert (await desk.ask("GET", "/api/ps")).json["models"]


async def test_an_empty_suffix_is_the_same_as_none(desk: Desk):
    await desk.complete(prompt=QWEN, suffix="")
    assert desk.fills[0].prefix + desk.fills[0].given == PREFIX


@pytest.mark.parametrize(
    ("path", "fields", "reason"),
    [
        ("/v1/completions", {"max_tokens": 2}, lambda it: it["choices"][0]["finish_reason"]),
        ("/api/generate", {"options": {"num_predict": 2}}, lambda it: it["done_reason"]),
    ],
)
async def test_a_cut_answer_says_so(start_api, path, fields, reason):
    async with start_api(lambda _: "a + b + c + d") as desk:
        reply = await desk.post(path, {"prompt": QWEN, "stream": False, **fields})
        assert reason(reply.json) == "length"


WRONG = {
    "/v1/completions": [
        (b"{", "not a valid request"),
        (b"[]", "not a valid request"),
        ({}, "prompt"),
        ({"prompt": 1}, "prompt"),
        ({"prompt": "x", "max_tokens": 0}, "max_tokens"),
        ({"prompt": "x", "n": 9}, "$.n"),
        ({"prompt": "x", "stop": [1]}, "$.stop[0]"),
        ({"prompt": "x", "stream": "yes"}, "$.stream"),
        ({"prompt": "x", "suffix": 1}, "$.suffix"),
        ({"prompt": "x", "logprobs": "all"}, "$.logprobs"),
        ({"prompt": "x", "seed": 2**64}, "seed"),
        (b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "recursion"),
        (b'{"prompt": "\xff"}', "not a valid request"),
    ],
    "/infill": [
        (HOLE | {"input_prefix": 1}, "input_prefix"),
        (HOLE | {"input_extra": [{"filename": "x"}]}, "input_extra"),
        (HOLE | {"n_predict": "many"}, "n_predict"),
        (HOLE | {"stop": 1}, "stop"),
        (HOLE | {"response_fields": "content"}, "response_fields"),
        (HOLE | {"n_cmpl": 0}, "n_cmpl"),
        ({"input_prefix": "x"}, "input_suffix"),
        ({"input_suffix": "x"}, "input_prefix"),
    ],
    "/api/generate": [
        ({"prompt": 1}, "$.prompt"),
        ({"prompt": "x", "suffix": []}, "$.suffix"),
        ({"prompt": "x", "stream": "no"}, "$.stream"),
        ({"prompt": "x", "options": []}, "$.options"),
        ({"prompt": "x", "options": {"num_predict": "many"}}, "$.options.num_predict"),
        ({"prompt": "x", "options": {"stop": 1}}, "$.options.stop"),
    ],
}


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [(path, body, says) for path, rows in WRONG.items() for body, says in rows],
)
async def test_a_wrong_body_is_refused_in_one_line_that_names_the_field(desk, path, body, says):
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    reply = await desk.ask("POST", path, sent)
    error = reply.json["error"]
    message = error if path == "/api/generate" else error["message"]
    assert (reply.status, says in message, "\n" in message) == (400, True, False), message
    assert desk.fills == []
