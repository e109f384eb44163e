"""vLLM with DiffusionGemma: what it is asked, and what becomes of its canvases. No weights run."""

import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from http_server import answer, serving, silence
from remote_settings import RemoteSettings
from tiny_diffusion_gemma import CODE, save_tiny_tokenizer
from tokenizers import Tokenizer
from toy_causal_fill import run_fill
from vllm_canvas_double import Body, CanvasServer, CanvasWriter, Position, canvas_event, refusal_of

from intarsia.engine.diffusion.candidate_lengths import candidate_lengths
from intarsia.engine.errors import Cancelled, ModelError, RemoteError
from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes, lay_out
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import ContextChunk, Fill, Filled, Prefetch, ProjectContext, Step
from intarsia.engine.remote.dialects.generation import LikelyToken, NewToken, UnusableAnswer
from intarsia.engine.remote.dialects.vllm_canvas import MAX_STEPS, VllmCanvas
from intarsia.engine.remote.fill.canvas import CanvasAnswer
from intarsia.engine.remote.fill.link import ask_at_once
from intarsia.engine.remote.filler import RemoteFiller

PREFIX, SUFFIX = CODE.split("first + second")
HOLE = "first + second"
CANVAS = 64


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "tiny"
    path.mkdir()
    save_tiny_tokenizer(path)
    return path


def writer_of(folder: Path, hole: str = HOLE, **options: Any) -> CanvasWriter:
    return CanvasWriter(folder, hole, canvas_length=CANVAS, **options)


def server_of(folder: Path, **options: Any) -> CanvasServer:
    denoise = options.pop("denoise", None) or writer_of(folder)
    return CanvasServer(folder=folder, denoise=denoise, **options)


@pytest.fixture
def opened(settings: RemoteSettings, folder: Path):
    """Serve canvases until the block ends; return the remote's filler."""

    @contextmanager
    def opened(canvases: CanvasServer | None = None) -> Iterator[RemoteFiller]:
        with serving((canvases or server_of(folder)).respond) as server:
            yield settings.filler(server.url, tokenizer=folder)

    return opened


def fill(filler: RemoteFiller, control: FillControl | None = None, **fields: Any) -> Filled:
    request = Fill(**{"id": 7, "prefix": PREFIX, "suffix": SUFFIX, "max_tokens": 14, **fields})
    return run_fill(filler, request) if control is None else filler.fill(request, control)


def test_the_model_is_recognized_before_anything_is_sent(settings, folder):
    canvases = server_of(folder)
    with serving(canvases.respond) as server:
        filler = settings.filler(server.url, tokenizer=folder)
        session = filler.open()
        assert (session.server.system, session.server.canvas_tokens) == (
            "vLLM with DiffusionGemma",
            CANVAS,
        )
        num_asked = len(server.heads)
        filler.open()
        assert len(server.heads) == num_asked, "it is asked once"
    assert canvases.asked == []
    assert "lost: drafts" in " ".join(filler.info.notes)


def test_without_its_tokenizer_it_is_refused(settings, folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_tokens(["def "])
    tokenizer.save(str(other / "tokenizer.json"))
    with serving(server_of(folder).respond) as server:
        with pytest.raises(RemoteError, match="another tokenizer"):
            settings.filler(server.url, tokenizer=other).open()
        with pytest.raises(ModelError, match="serves DiffusionGemma: set `tokenizer`"):
            settings.filler(server.url).open()
        (other / "tokenizer.json").write_text("{")
        with pytest.raises(ModelError, match=r"tokenizer\.json cannot be read"):
            settings.filler(server.url, tokenizer=other).open()


def test_the_models_own_settings_name_more_ends(opened, folder: Path) -> None:
    (folder / "generation_config.json").write_text('{"eos_token_id": [1, 5, 999999, true]}')
    with opened() as filler:
        session: Any = filler.open()
    assert session.text.special.end == {1, 5}


def test_a_server_that_takes_no_narrow_canvas_is_named_with_the_flag(settings, folder):
    canvases = server_of(folder, denoise=writer_of(folder, is_async=False))
    with serving(canvases.respond) as server:
        filler = settings.filler(server.url, tokenizer=folder)
        with pytest.raises(RemoteError, match="64 tokens: start vLLM with --async-sch") as caught:
            filler.open()
    assert caught.value.code == "model"
    assert canvases.asked == [], "nothing of the user's was sent"


@pytest.mark.parametrize(
    ("max_steps", "sent"), [(None, MAX_STEPS), (9, 9), (MAX_STEPS + 1, MAX_STEPS + 1)]
)
def test_the_number_of_steps_is_limited(opened, folder, max_steps, sent):
    canvases = server_of(folder)
    with opened(canvases) as filler:
        fill(filler, max_steps=max_steps)
    steps = [body["vllm_xargs"]["diffusion_max_steps"] for body in canvases.asked]
    assert steps == [1, 1, 1, sent]


SAMPLES = ((HOLE, 0.3), ("first", 0.6), (HOLE, 0.5), ("second", 0.2))


@pytest.mark.parametrize(
    ("num_candidates", "samples", "found"),
    [
        (1, SAMPLES, [HOLE]),
        (3, SAMPLES, ["first", HOLE]),
        (9, SAMPLES, ["first", HOLE, "second"]),  # the server draws four at most
        (3, SAMPLES[:2], [HOLE]),  # it draws fewer than are asked for
        (3, (), [HOLE]),
    ],
)
def test_several_answers_are_samples_of_one_request(opened, folder, num_candidates, samples, found):
    """The surest one first."""
    canvases = server_of(folder, denoise=writer_of(folder, samples=samples))
    length = len(writer_of(folder).hole)
    with opened(canvases) as filler:
        filled = fill(filler, num_candidates=num_candidates, max_tokens=length)
    assert [filled.text, *(other.text for other in filled.others)] == found
    for other in filled.others:
        assert "".join(token.text for token in other.tokens) == other.text
        assert other.finish_reason == "end_of_hole"
    (body,) = canvases.asked
    asked = body["vllm_xargs"].get("diffusion_samples", 1)
    assert asked == (min(num_candidates, 4) if len(samples) == 4 else 1)


def test_a_hole_of_several_canvases_has_one_answer(opened, folder: Path) -> None:
    writer = writer_of(folder, ", ".join(f"x{i}" for i in range(100)), samples=SAMPLES)
    canvases = server_of(folder, denoise=writer)
    with opened(canvases) as filler:
        assert fill(filler, suffix="", max_tokens=150, num_candidates=3).others == ()
    assert not any("diffusion_samples" in body["vllm_xargs"] for body in canvases.asked)


def test_a_sample_that_was_not_asked_for_is_unusable(opened, folder: Path) -> None:
    def denoise(body: Body) -> bytes | str | Sequence[Position]:
        found = writer_of(folder)(body)
        return found if isinstance(found, str) else json.dumps(canvas_event(found, 1)).encode()

    with (
        opened(server_of(folder, denoise=denoise)) as filler,
        pytest.raises(RemoteError, match="numbers an answer 1"),
    ):
        fill(filler)


def test_nothing_that_its_sampler_refuses_is_sent(opened, folder: Path) -> None:
    canvases = server_of(folder)
    with opened(canvases) as filler:
        fill(filler, temperature=0.0, seed=5, stop=("\n",), max_steps=9)
        filler.prefetch(Prefetch(prefix=PREFIX + "x", suffix=SUFFIX), NO_CONTROL)
    assert len(canvases.asked) == 5
    for body in canvases.asked:
        assert refusal_of(body, canvas_length=CANVAS, vocab_size=10**6) is None
        assert body["temperature"] == 1.0 and body["vllm_xargs"]["diffusion_read_only"] == 1
        assert not {"seed", "min_p", "stop", "logit_bias", "suffix"} & body.keys()
        assert body["max_tokens"] == len(body["vllm_xargs"]["diffusion_seed_canvas"])
        assert len(body["cache_salt"]) == 64


def test_the_canvas_is_that_of_our_own_family(opened, folder: Path) -> None:
    canvases = server_of(folder)
    with opened(canvases) as filler:
        fill(filler, given="fir")
    writer, nums_free = writer_of(folder), []
    given, suffix = writer.encode("fir"), writer.encode(SUFFIX)
    sizes = CanvasSizes(canvas_length=CANVAS)
    for body in canvases.asked:
        extra = body["vllm_xargs"]
        ids, pins = extra["diffusion_seed_canvas"], extra["diffusion_pinned"]
        free = [i for i in range(len(ids)) if i not in pins]
        layouts = lay_out(given, len(free), suffix, sizes=sizes, end_id=1, pad_id=0)
        assert [ids[i] if i in pins else None for i in range(len(ids))] == list(layouts[0].ids)
        nums_free.append(len(free))
    assert tuple(sorted(nums_free[:-1])) == candidate_lengths(14)
    assert nums_free[-1] in candidate_lengths(14)


def test_the_noise_is_that_of_the_seed(opened, folder: Path) -> None:
    canvases = server_of(folder)
    with opened(canvases) as filler:
        for fields in ({"seed": 3}, {"seed": 3}, {"seed": 4}, {"seed": 3, "alternative": 1}):
            fill(filler, **fields)
    last = [body["vllm_xargs"]["diffusion_seed_canvas"] for body in canvases.asked[3::4]]
    assert last[0] == last[1] != last[2] == last[3]


@pytest.mark.parametrize("errs", [True, False])
def test_only_the_hole_is_taken(opened, folder: Path, errs: bool) -> None:
    """What the server writes at the pins is its guess, and no part of the answer."""
    with opened(server_of(folder, denoise=writer_of(folder, errs=errs))) as filler:
        filled = fill(filler, max_tokens=len(writer_of(folder).hole))
    assert filled.text == HOLE
    assert filled.finish_reason == "end_of_hole"
    assert {token.confidence for token in filled.tokens} == {0.5}
    assert filled.mean_entropy == pytest.approx(math.log(2)), "the rest counts as one token"
    assert filled.model.startswith("remote:there at 127.0.0.1")


@pytest.mark.parametrize("length", [4, 8, 14])
def test_the_length_is_that_which_the_suffix_fits(opened, folder, length):
    hole = writer_of(folder).tokenizer.decode(writer_of(folder).encode(HOLE * 5)[:length])
    writer = writer_of(folder, hole)
    assert len(writer.hole) == length
    canvases = server_of(folder, denoise=writer)
    with opened(canvases) as filler:
        assert fill(filler).text == hole
    scoring = [body for body in canvases.asked if "logprob_token_ids" in body]
    assert len(scoring) == len(candidate_lengths(14)) == 3
    assert all(body["vllm_xargs"]["diffusion_max_steps"] == 1 for body in scoring)


def test_an_end_token_or_a_stop_text_ends_the_hole(opened, folder: Path) -> None:
    with opened() as filler:
        assert fill(filler, suffix="").text == HOLE, "the model ends the text itself"
        assert fill(filler, stop=(" +",)).text == "first"


def test_a_long_hole_is_several_canvases(opened, folder: Path) -> None:
    """Each later prompt ends with the canvas before, with its pins."""
    long_hole = ", ".join(f"x{i}" for i in range(100))
    canvases = server_of(folder, denoise=writer_of(folder, long_hole))
    with opened(canvases) as filler:
        steps: list[Step] = []
        control = FillControl(on_step=steps.append)
        filled = fill(filler, control, given="fir", suffix="", max_tokens=150)
    first, second, *_ = canvases.asked
    assert filled.text.startswith("x0, x1, x2") and len(filled.tokens) == 150
    given = writer_of(folder).encode("fir")
    num_own = len(first["prompt"])
    assert second["prompt"][:num_own] == first["prompt"]
    assert second["prompt"][num_own : num_own + len(given)] == given
    assert len(second["prompt"]) == num_own + CANVAS
    assert len(steps) == len(canvases.asked) > 2
    assert steps[-1].tokens == filled.tokens


def test_a_rewrite_is_refused_and_a_masked_draft_gives_its_length(opened, folder):
    canvases = server_of(folder)
    with opened(canvases) as filler:
        with pytest.raises(ValueError, match="cannot rewrite a draft"):
            fill(filler, draft=HOLE, noise=0.5, max_tokens=40)
        assert fill(filler, draft=HOLE, max_tokens=40).text == HOLE
        with pytest.raises(ValueError, match="max_tokens must be"):
            fill(filler, max_tokens=5_000)
    assert len(canvases.asked) == 1


def test_a_long_context_is_read_by_one_request_first(opened, folder: Path) -> None:
    """Requests that come at once would each read it."""
    writer, at_once, most = writer_of(folder), [0], [0]
    lock = threading.Lock()
    seen: list[int] = []

    def denoise(body: Body) -> Sequence[Position] | str:
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        if "logprob_token_ids" in body:
            seen.append(at_once[0])
            time.sleep(0.2)
        with lock:
            at_once[0] -= 1
        return writer(body)

    prefix = CODE * 4 + PREFIX
    with opened(server_of(folder, denoise=denoise)) as filler:
        fill(filler, prefix=prefix)
        assert (seen[0], most[0]) == (1, 2), "one, then two"
        seen.clear()
        fill(filler, prefix=prefix)
        assert most[0] == 3, "the context is read: all three at once"


def test_what_is_read_ahead_is_noted(opened, folder: Path) -> None:
    chunk = ContextChunk(path="pkg/b.py", text="def other(first, second): ...\n" * 20)
    project = ProjectContext(repository="pkg", path="pkg/a.py", chunks=(chunk,))
    canvases = server_of(folder, cached_tokens=3)
    with opened(canvases) as filler:
        assert fill(filler, project=project).num_project == 0, "it would have to be read first"
        canvases.asked.clear()
        place = Prefetch(prefix=PREFIX, suffix=SUFFIX, project=project)
        filler.prefetch(place, NO_CONTROL)
        (ahead,) = canvases.asked
        assert ahead["max_tokens"] == CanvasSizes(canvas_length=CANVAS).bucket
        filled = fill(filler, project=project)
        assert filled.num_project > 50
        assert (filled.num_reused, filled.num_prefilled) == (3, len(ahead["prompt"]) - 3)
        canvases.asked.clear()
        filler.prefetch(place, NO_CONTROL)
        assert canvases.asked == [], "it is read already"


def test_a_refusal_in_the_stream_is_one_line(opened, folder: Path) -> None:
    writer = writer_of(folder)

    def denoise(body: Body) -> Sequence[Position] | str:
        return "out of\nsorts" if body.get("stream") else writer(body)

    with (
        opened(server_of(folder, denoise=denoise)) as filler,
        pytest.raises(RemoteError, match=r"unusable \(out of sorts\)") as caught,
    ):
        fill(filler)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("num_lost", [1, 5])
def test_a_canvas_that_is_too_short_is_unusable(opened, folder, num_lost):
    writer = writer_of(folder)

    def denoise(body: Body) -> Sequence[Position] | str:
        found = writer(body)
        return found if isinstance(found, str) else found[:-num_lost]

    with (
        opened(server_of(folder, denoise=denoise)) as filler,
        pytest.raises(RemoteError, match="tokens for a canvas of"),
    ):
        fill(filler)


def test_a_missing_probability_is_unusable() -> None:
    layout = lay_out([], 1, [5], sizes=CanvasSizes(canvas_length=8), end_id=1, pad_id=0)[0]
    tokens = tuple(
        NewToken(id=3, log_p=-1, likeliest=(LikelyToken(id=3, log_p=-1),)) for _ in layout.ids
    )
    with pytest.raises(UnusableAnswer, match="lacks the probabilities"):
        CanvasAnswer(tokens=tokens, ids=(3,) * len(tokens)).surprise(layout)


def stuck(folder: Path, *, from_request: int) -> Callable[..., None]:
    """Return a server that sends nothing from this request for a canvas on."""
    canvases, num_asked = server_of(folder), [0]
    respond = canvases.respond

    def stuck_respond(path: str, body: bytes, connection: Any) -> None:
        if path == VllmCanvas.path and json.loads(body).get("stream"):
            num_asked[0] += 1
            if num_asked[0] >= from_request:
                silence(connection)
        respond(path, body, connection)

    return stuck_respond


@pytest.mark.parametrize("from_request", [2, 5])
def test_cancelling_closes_all_connections(settings, folder, from_request):
    """Of the requests for its length, which are sent at once, and of the hole's own."""
    num_open = 3 if from_request == 2 else 1
    with serving(stuck(folder, from_request=from_request)) as server:
        filler = settings.filler(server.url, tokenizer=folder)
        filler.prefetch(Prefetch(prefix=PREFIX, suffix=SUFFIX), NO_CONTROL)
        num_asked, ends_at = len(server.heads), [0.0]

        def checkpoint() -> None:
            if len(server.heads) == num_asked + from_request - 2 + num_open:
                ends_at[0] = ends_at[0] or time.monotonic()
                raise Cancelled

        with pytest.raises(Cancelled):
            fill(filler, FillControl(checkpoint=checkpoint))
        assert time.monotonic() - ends_at[0] < 2
        server.until_closed_early(num_open)


def test_at_the_deadline_there_is_no_text_without_a_canvas(settings, folder):
    with serving(stuck(folder, from_request=4)) as server:
        filler = settings.filler(server.url, tokenizer=folder)
        filled = fill(filler, FillControl(deadline=time.monotonic() + 1))
    assert (filled.text, filled.tokens, filled.finish_reason) == ("", (), "deadline")


def test_one_of_several_requests_fails(settings: RemoteSettings, folder: Path) -> None:
    canvases = server_of(folder)
    respond = canvases.respond

    def busy(path: str, body: bytes, connection: Any) -> None:
        if b"logprob_token_ids" in body and len(canvases.asked) == 1:
            answer(connection, b"{}", status=503, headers="Retry-After: 2\r\n")
        else:
            respond(path, body, connection)

    with serving(busy) as server, pytest.raises(RemoteError, match="busy") as caught:
        fill(settings.filler(server.url, tokenizer=folder))
    assert (caught.value.code, caught.value.retry_after_s) == ("busy", 2)


def test_answers_come_in_the_order_of_their_requests() -> None:
    def ask(delay: float, checkpoint: Callable[[], None]) -> float:
        time.sleep(delay)
        checkpoint()
        return delay

    asks = [lambda checkpoint, d=delay: ask(d, checkpoint) for delay in (0.1, 0.0, 0.05)]
    num_checked: list[int] = []
    assert ask_at_once(asks, lambda: num_checked.append(1)) == [0.1, 0.0, 0.05]
    assert num_checked
    assert ask_at_once([], lambda: None) == []
