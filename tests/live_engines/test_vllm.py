"""Holes filled through vLLM's own server with our exported model, on this machine's processor."""

import inspect
import statistics
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from cancel_when import cancelling
from local_server import wait_until
from real_holes import REAL_HOLES
from remote_settings import RemoteSettings
from toy_causal_fill import run_fill
from vllm_server import BLOCK_TOKENS, SERVER_PYTHON, VllmServer, vllm_server

from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import Cancelled
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Fill, Filled, Prefetch, Step
from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia.engine.remote.filler import RemoteFiller
from intarsia.engine.remote.http.remotes import Remote
from intarsia.engine.service.load_filler import load_filler

pytestmark = [
    pytest.mark.skipif(not SERVER_PYTHON.exists(), reason="vLLM is not installed: make engines"),
    pytest.mark.timeout(900),
]

KEYS = ("first-key", "second-key")
MAX_RUNNING = 2
FLAGS = ("--served-model-name", "tuned", "--max-num-seqs", str(MAX_RUNNING))
CODE = inspect.getsource(statistics)[3_000:6_500]
"""Code of other people, about 800 tokens."""

HOLES = ("count vowels", "clamp", "factorial")
COUNTING = Fill(
    id=1, prefix="# Count from one to a thousand:\n1, 2, 3,", suffix="\n", max_tokens=700
)
"""A text that the model continues for long."""


@pytest.fixture(scope="session")
def server(tuned_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmServer]:
    """The exported model, for two users. Two requests run at once, chosen by priority."""
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    flags = (*FLAGS, "--scheduling-policy", "priority")
    with vllm_server(tuned_folder, log, keys=KEYS, flags=flags) as server:
        yield server


@pytest.fixture
def remote(server: VllmServer, settings: RemoteSettings) -> Remote:
    return with_key(settings, server, KEYS[0])


@pytest.fixture
def filler(remote: Remote) -> RemoteFiller:
    return filler_of(remote)


def with_key(settings: RemoteSettings, server: VllmServer, key: str, **more: object) -> Remote:
    path = settings.path.with_name(f"{key}.key")
    path.write_text(key)
    path.chmod(0o600)
    options = {"key_file": str(path), "timeout_s": 300, "priority": True} | more
    return settings.write(server.url, **options)


def filler_of(remote: Remote) -> RemoteFiller:
    return RemoteFiller(remote, max_context_tokens=4_096)


def line(prefix: str, suffix: str, **fields: object) -> Fill:
    options = {"stop": ("\n",), "max_tokens": 24} | fields
    return Fill(id=1, prefix=prefix, suffix=suffix, **options)


def test_lines_are_those_of_our_own_engine(filler: RemoteFiller) -> None:
    server = filler.open().server
    assert (server.system, server.model, server.context_tokens) == ("vLLM", "tuned", 4_096)
    own = load_filler(EngineConfig(), EngineConfig().model, lambda *_: None)
    same = 0
    for name in HOLES:
        hole = line(*REAL_HOLES[name])
        there, here = run_fill(filler, hole), run_fill(own, hole)
        assert there.finish_reason == "end_of_hole"
        assert there.text == "".join(token.text for token in there.tokens)
        assert all(0 < token.confidence <= 1 for token in there.tokens)
        same += there.text == here.text
    assert same >= len(HOLES) - 1, "the weights are the same: only rounding may differ"


def test_a_half_typed_word_is_continued(filler: RemoteFiller) -> None:
    prefix, suffix = REAL_HOLES["clamp"]
    whole = run_fill(filler, line(prefix, suffix))
    word = whole.text[: len(whole.text) - len(whole.text.lstrip()) + 3]
    filled = run_fill(filler, line(prefix, suffix, given=word))
    assert filled.text == whole.text.removeprefix(word)
    rare = run_fill(filler, line(prefix, suffix, given="        rai"))
    assert rare.text.startswith("se ")


def test_typing_on_rereads_no_more_than_a_block(filler: RemoteFiller) -> None:
    at = CODE.index("\n\n", 2_000)
    typed = "\n    total = sum(value * "
    first = run_fill(filler, line(CODE[:at], CODE[at:], given="\n    ", max_tokens=2))
    assert first.num_prefilled > 4 * BLOCK_TOKENS
    for end in range(6, len(typed) + 1, 6):
        prefix, given = CODE[:at] + typed[: end - 3], typed[end - 3 : end]
        filled = run_fill(filler, line(prefix, CODE[at:], given=given, max_tokens=2))
        assert filled.num_prefilled + filled.num_reused >= first.num_prefilled
        assert filled.num_prefilled <= BLOCK_TOKENS + len(typed)
        assert filled.num_reused % BLOCK_TOKENS == 0


def test_another_users_prompts_are_not_reused(server: VllmServer, settings: RemoteSettings) -> None:
    hole = line("# Whose code is this?\n" + CODE[:1_800], CODE[1_800:3_000], max_tokens=1)
    reused = [
        run_fill(filler_of(with_key(settings, server, key)), hole).num_reused
        for key in (KEYS[0], KEYS[0], KEYS[1], KEYS[1])
    ]
    assert reused[0] == reused[2] == 0, "timing would tell one user what another one has"
    assert reused[1] == reused[3] >= 2 * BLOCK_TOKENS


def test_cancelling_ends_the_servers_work(filler: RemoteFiller, server: VllmServer) -> None:
    steps: list[Step] = []
    control = FillControl(
        on_step=steps.append, checkpoint=cancelling(lambda: len(steps) >= 3).checkpoint
    )
    num_before = server.metric("generation_tokens_total")
    with pytest.raises(Cancelled):
        filler.fill(COUNTING, control)
    wait_until(lambda: not server.num_running())
    assert server.metric("generation_tokens_total") - num_before < 100
    assert run_fill(filler, line("x = ", "\n", max_tokens=2)).text


def test_a_fill_overtakes_what_is_read_ahead(server: VllmServer, remote: Remote) -> None:
    """Both wait for a place: without priorities the one that came first would get it."""
    ends = [threading.Event() for _ in range(MAX_RUNNING)]
    finished: list[str] = []

    def occupy(end: threading.Event) -> None:
        with pytest.raises(Cancelled):
            filler_of(remote).fill(COUNTING, cancelling(end.is_set))

    def read_ahead() -> None:
        place = Prefetch(prefix="# Later.\n" + CODE[:1_500], suffix="\n")
        filler_of(remote).prefetch(place, NO_CONTROL)
        finished.append("read ahead")

    def fill() -> None:
        hole = line("# Now.\n" + CODE[:1_500], "\n", max_tokens=4, stop=())
        run_fill(filler_of(remote), hole)
        finished.append("fill")

    with ThreadPoolExecutor(MAX_RUNNING + 2) as pool:
        tasks: list[Future[None]] = [pool.submit(occupy, end) for end in ends]
        wait_until(lambda: server.num_running() == MAX_RUNNING)
        tasks.append(pool.submit(read_ahead))
        wait_until(lambda: server.num_waiting() == 1)
        tasks.append(pool.submit(fill))
        wait_until(lambda: server.num_waiting() == 2)
        ends[0].set()  # one place is free now
        tasks[-1].result(timeout=300)
        for end in ends:
            end.set()
        for task in tasks:
            task.result(timeout=300)
    assert finished == ["fill", "read ahead"]


LORA_HOLES = ("count vowels", "clamp", "read pairs", "largest", "factorial")


@pytest.fixture(scope="module")
def lora_server(plain_folder, tuned_lora, tmp_path_factory) -> Iterator[VllmServer]:
    """The plain model and our tuning, as PEFT has it; ``model`` in remotes.toml chooses."""
    log = tmp_path_factory.mktemp("vllm-lora") / "server.log"
    flags = ("--served-model-name", "plain", "--max-num-seqs", "2", "--enable-lora")
    flags += ("--max-lora-rank", "16", "--lora-modules", f"tuned={tuned_lora}")
    with vllm_server(plain_folder, log, keys=KEYS, flags=flags) as server:
        yield server


def written(filler: Filler) -> list[Filled]:
    return [run_fill(filler, line(*REAL_HOLES[name], fresh=True)) for name in LORA_HOLES]


def num_same(first: Sequence[Filled], second: Sequence[Filled]) -> int:
    return sum(one.text == other.text for one, other in zip(first, second, strict=True))


@pytest.mark.timeout(1_800)
def test_our_tuning_in_vllm_writes_what_the_merged_model_writes(lora_server, settings):
    tuned, plain = (
        written(filler_of(with_key(settings, lora_server, KEYS[0], priority=False, model=model)))
        for model in ("tuned", "plain")
    )
    merged, own_plain = (
        written(load_filler(EngineConfig(model=model), model, lambda *_: None))
        for model in (DEFAULT_MODEL, f"{DEFAULT_MODEL}+none")
    )
    assert num_same(tuned, merged) >= len(LORA_HOLES) - 1, "only rounding may differ"
    for one, other in zip(tuned, merged, strict=True):
        if one.text == other.text:
            first, second = one.tokens[0], other.tokens[0]
            assert first.confidence == pytest.approx(second.confidence, abs=0.1)
    assert num_same(plain, tuned) < len(LORA_HOLES), "the LoRA changed nothing"
    assert num_same(plain, own_plain) >= len(LORA_HOLES) - 1
