"""OpenAI's completions: real HTTP over a real socket, to an engine that fills by rules."""

import math

import pytest
from api_desk import Desk

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


async def test_a_cut_answer_says_so(start_api):
    async with start_api(lambda _: "a + b + c + d") as desk:
        reply = await desk.complete(prompt=QWEN, max_tokens=2)
        assert reply.json["choices"][0]["finish_reason"] == "length"


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


async def test_an_empty_suffix_is_the_same_as_none(desk: Desk):
    await desk.complete(prompt=QWEN, suffix="")
    assert desk.fills[0].prefix + desk.fills[0].given == PREFIX


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "not a valid request"),
        (b"[]", "not a valid request"),
        (b"{}", "prompt"),
        (b'{"prompt": 1}', "prompt"),
        (b'{"prompt": "x", "max_tokens": 0}', "max_tokens"),
        (b'{"prompt": "x", "n": 9}', "$.n"),
        (b'{"prompt": "x", "stop": [1]}', "$.stop[0]"),
        (b'{"prompt": "x", "stream": "yes"}', "$.stream"),
        (b'{"prompt": "x", "suffix": 1}', "$.suffix"),
        (b'{"prompt": "x", "logprobs": "all"}', "$.logprobs"),
        (b'{"prompt": "x", "seed": 18446744073709551616}', "seed"),
        (b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "recursion"),
        (b'{"prompt": "\xff"}', "not a valid request"),
    ],
)
async def test_a_body_that_is_none_is_refused_in_one_line(desk: Desk, body: bytes, says: str):
    reply = await desk.ask("POST", "/v1/completions", body)
    assert reply.status == 400
    message = reply.json["error"]["message"]
    assert says in message
    assert "\n" not in message


async def test_a_hole_in_a_secret_is_not_filled(desk: Desk):
    prompt = "<|repo_name|>shop\n<|file_sep|>deploy/secrets.yaml\n<|fim_prefix|>token: "
    reply = await desk.complete(prompt=f"{prompt}<|fim_suffix|>\n<|fim_middle|>")
    assert (reply.status, reply.json["choices"][0]["text"]) == (200, "")
    assert desk.fills == []
