"""What we ask vLLM with DiffusionGemma, by its package's own code. No weights: these need a GPU.

Its admission takes or refuses each request, its sampler runs each step on our canvases, and its
classes write each answer. Only the likeliest ids are ours, and the HTTP between.
"""

import json
import subprocess
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT
from http_server import serving
from remote_settings import RemoteSettings
from tiny_diffusion_gemma import CODE, save_tiny_tokenizer
from toy_causal_fill import run_fill
from vllm_canvas_double import CanvasServer, CanvasWriter, refusal_of

from intarsia.engine.ipc.messages import Fill, Step
from intarsia.engine.remote.dialects.vllm_canvas import (
    MAX_STEPS,
    CanvasRequest,
    VllmCanvas,
    probe_body,
)

PYTHON = ROOT / "build" / "servers" / "vllm" / "bin" / "python"
WHEEL = ROOT / "tests" / "live_engines" / "vllm_canvas_wheel.py"

PREFIX, SUFFIX = CODE.split("first + second")
HOLE = "first + second"
CANVAS, VOCAB = 64, 320


@pytest.fixture(scope="module")
def wheel():
    """Ask the package: a request's JSON, and the ids that a model would find likeliest."""
    command = [PYTHON, "-P", WHEEL, str(CANVAS), str(VOCAB)]
    lock = threading.Lock()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None

        def ask(body: Any, likely: list[int] | None = None) -> dict[str, Any]:
            with lock:  # requests for lengths come at once
                process.stdin.write(json.dumps({"body": body, "likely": likely or []}) + "\n")
                process.stdin.flush()
                answer: dict[str, Any] = json.loads(process.stdout.readline())
            return answer

        yield ask
        process.stdin.close()


class WheelServer(CanvasServer):
    """A server that admits, denoises and answers by the package. ``answers`` are the package's."""

    def __init__(self, folder: Path, wheel, hole: str = HOLE) -> None:
        writer = CanvasWriter(folder, hole, canvas_length=CANVAS)
        assert writer.vocab_size <= VOCAB
        self.answers: list[dict[str, Any]] = []

        def denoise(body: Any) -> bytes | str:
            found = wheel(body, writer.likely(body))
            if "refusal" in found:
                return str(found["refusal"])
            self.answers.append(found)
            return str(found.get("event", "")).encode()

        super().__init__(folder=folder, denoise=denoise)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "tiny"
    path.mkdir()
    save_tiny_tokenizer(path)
    return path


def fill(server: WheelServer, settings: RemoteSettings, **fields: Any) -> str:
    with serving(server.respond) as served:
        filler = settings.filler(served.url, tokenizer=server.folder)
        request = Fill(**{"id": 1, "prefix": PREFIX, "suffix": SUFFIX, "max_tokens": 14, **fields})
        steps: list[Step] = []
        filled = run_fill(filler, request, on_step=steps.append)
        assert filler.info.family == "vLLM with DiffusionGemma", "by the package's own refusals"
        assert steps[-1].tokens == filled.tokens
        return filled.text


def test_the_pins_hold_at_each_step_and_we_put_them_back(wheel, settings, folder):
    long_hole = ", ".join(f"x{i}" for i in range(20))
    for hole, fields in (
        (HOLE, {"max_tokens": 3}),
        (HOLE * 2 + "x", {"given": "fir", "max_tokens": 40}),
        (long_hole, {"given": "fir", "suffix": "", "max_tokens": 150}),
    ):
        server = WheelServer(folder, wheel, hole)
        text = fill(server, settings, **fields)
        assert text.startswith(hole[:20])
        canvases = [answer for answer in server.answers if answer]
        assert len(canvases) == len(server.asked) > 0
        assert all(answer["held"] for answer in canvases)
        whole = [
            (body, answer)
            for body, answer in zip(server.asked, canvases, strict=True)
            if body["vllm_xargs"]["diffusion_max_steps"] == MAX_STEPS
        ]
        for body, answer in whole:
            ids, pins = (body["vllm_xargs"][f"diffusion_{it}"] for it in ("seed_canvas", "pinned"))
            assert answer["num_steps"] > 1
            assert all(answer["emitted"][i] != ids[i] for i in pins), "the package emits no pin"
        for (before, _), (after, _) in pairwise(whole):
            context, ids = before["prompt"], before["vllm_xargs"]["diffusion_seed_canvas"]
            for i in before["vllm_xargs"]["diffusion_pinned"]:
                assert after["prompt"][len(context) + i] == ids[i], "but we do"


@pytest.mark.parametrize("length", [4, 8, 14])
def test_the_length_is_chosen_by_its_probabilities(wheel, settings, folder, length):
    writer = CanvasWriter(folder, HOLE * 5, canvas_length=CANVAS)
    hole = writer.tokenizer.decode(writer.hole[:length])
    server = WheelServer(folder, wheel, hole)
    assert fill(server, settings) == hole
    scoring = [body for body in server.asked if "logprob_token_ids" in body]
    assert len(scoring) == 3
    canvases = [answer for answer in server.answers if answer]
    assert [answer["num_steps"] for answer in canvases[:3]] == [1, 1, 1]


def request() -> dict[str, Any]:
    asked = CanvasRequest(prompt=[2, 5], ids=[9] * 16, pinned=[0, 15], max_steps=4, scored=[9, 8])
    return VllmCanvas("dg", cache_salt="salt").body(asked)


TRAPS: dict[str, dict[str, Any]] = {
    "greedy": {"temperature": 0.0},
    "its default temperature": {"temperature": 0.7},
    "seed": {"seed": 1},
    "min_p": {"min_p": 0.1},
    "min_tokens": {"min_tokens": 1},
    "logit_bias": {"logit_bias": {"5": -100}},
    "bad_words": {"bad_words": ["x"]},
    "allowed_token_ids": {"allowed_token_ids": [5]},
    "structured_outputs": {"structured_outputs": {"regex": "x.*"}},
}

CANVAS_TRAPS: dict[str, dict[str, Any]] = {
    "no length": {"canvas_length": 0},
    "above the served canvas": {"canvas_length": CANVAS + 1},
    "another length than its ids": {"seed_canvas": [9] * 15},
    "an id beyond the vocabulary": {"seed_canvas": [VOCAB] * 16},
    "a pin beyond the canvas": {"pinned": [16]},
}


def test_what_we_send_is_taken(wheel) -> None:
    assert "event" in wheel(request(), [7] * 16)
    assert refusal_of(request(), canvas_length=CANVAS, vocab_size=VOCAB) is None


@pytest.mark.parametrize("trap", TRAPS)
def test_what_its_sampler_cannot_do_is_refused(wheel, trap: str) -> None:
    body = request() | TRAPS[trap]
    assert "not yet supported" in wheel(body)["refusal"]
    assert refusal_of(body, canvas_length=CANVAS, vocab_size=VOCAB), "by our double, too"


@pytest.mark.parametrize("trap", CANVAS_TRAPS)
def test_a_wrong_canvas_is_refused(wheel, trap: str) -> None:
    body = request()
    body["vllm_xargs"] |= {f"diffusion_{key}": value for key, value in CANVAS_TRAPS[trap].items()}
    assert "diffusion_" in wheel(body)["refusal"]
    assert refusal_of(body, canvas_length=CANVAS, vocab_size=VOCAB), "by our double, too"


def test_the_probe_tells_the_served_canvas(wheel) -> None:
    refused = {size for size in (0, 32, 64, 128, 256) if "refusal" in wheel(probe_body("dg", size))}
    assert refused == {0, 128, 256}
    assert "refusal" not in wheel(probe_body("dg", 8, num_samples=0)), "it knows no samples"
