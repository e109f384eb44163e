"""What we ask SGLang, read by its wheel's own code. No server runs: that needs a GPU."""

import json
import subprocess
from typing import Any

import pytest
from checkout import ROOT

from intarsia.engine.remote.dialects.generation import (
    Chunk,
    Generation,
    LikelyToken,
    NewToken,
    Reading,
)
from intarsia.engine.remote.dialects.ids_servers import Sglang

PYTHON = ROOT / "build" / "servers" / "sglang" / "bin" / "python"
READ = ROOT / "tests" / "live_engines" / "sglang_wheel.py"

DIALECT = Sglang("qwen", cache_salt="salt", id_of={b"x": 9}.get)
HOLE = Generation(prompt=[1, 2, 3], max_tokens=8, stop=("\n",), beginning=b"re(", forbidden=(7,))


def read(body: dict[str, Any], template: str | None) -> dict[str, Any]:
    """Return what the wheel's code makes of a request, and events that it builds."""
    asked = json.dumps({"body": body, "template": template})
    done = subprocess.run(
        [PYTHON, "-P", READ], input=asked, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("template", [None, "qwen_coder", "star_coder", "deepseek_coder"])
def test_the_prompt_is_ours_with_any_template(template: str | None) -> None:
    answer = read(DIALECT.body(HOLE), template)
    assert answer["prompt"] == [1, 2, 3]
    assert answer["unknown"] == [], "a field is none of the server's"
    assert (answer["cache_salt"], answer["priority"]) == ("salt", None)
    assert answer["owner"] == "sglang", "by this it is recognized"
    assert answer["top_k"] == 1, "temperature 0 is greedy"


def test_without_an_empty_suffix_a_template_ruins_it() -> None:
    body = DIALECT.body(HOLE)
    del body["suffix"]
    prompt = read(body, "qwen_coder")["prompt"]
    assert "[1, 2, 3]" in prompt and "None" in prompt
    assert read(body, None)["prompt"] == [1, 2, 3]


def test_its_own_events_are_read() -> None:
    token, usage = read(DIALECT.body(HOLE), None)["events"]
    likeliest = (LikelyToken(id=9, log_p=-0.25),)  # a piece of a character is no text
    assert DIALECT.parse(token.encode()) == Chunk(
        tokens=(NewToken(id=9, log_p=-0.25, likeliest=likeliest),), stop="stop_text", model="qwen"
    )
    assert DIALECT.parse(usage.encode()) == Chunk(
        is_last=True, reading=Reading(num_read=24, num_reused=16, ms=0.0), model="qwen"
    )
