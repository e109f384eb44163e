"""Texts of two systems, compared: what is equal, what a near tie, and where the rest differs."""

import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT
from http_server import begin_events, serving
from llama_cpp_double import event, last_event, llama_cpp_answers
from remote_settings import RemoteSettings
from toy_causal import save_adapter, save_toy, toy_causal_model, toy_context, toy_text
from toy_causal_fill import run_fill

from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.read_request import FillTask, RequestReader
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.filler import ModelInfo
from intarsia.engine.ipc.messages import Fill
from intarsia_research.errors import EvaluationFault
from intarsia_research.peers.same_texts import __main__ as command
from intarsia_research.peers.same_texts.compare import compare
from intarsia_research.peers.same_texts.holes import Hole, line_holes
from intarsia_research.peers.same_texts.kept import KeptHoles
from intarsia_research.peers.same_texts.writers import (
    OwnEngine,
    WrittenHole,
    open_remote_engine,
)

HUMANEVAL = ROOT / "tests/data/human-eval-infilling/HumanEval-SingleLineInfilling.jsonl.gz"
PREFIXES = ("def f(val):\n", "x = [1, ", "for val in ", "def g(", "ret", "a.b(")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy(tmp_path_factory.mktemp("toy"), toy_causal_model("qwen2"))


def fills(**fields: object) -> list[Fill]:
    options = {"suffix": "\n", "max_tokens": 8, "fresh": True} | fields
    return [Fill(id=1, prefix=prefix, **options) for prefix in PREFIXES]  # type: ignore[arg-type]


def holes_of(toy: Path, requests: Sequence[Fill]) -> list[Hole]:
    text = toy_text(toy)
    reader = RequestReader(text, vocab_size=text.num_tokens, max_context_tokens=256)
    return [
        Hole(case=request.prefix, task=reader.read(request, NO_CONTROL)) for request in requests
    ]


def own_engine(toy: Path, adapter: Path | None = None, *, name: str = "ours") -> OwnEngine:
    return OwnEngine(toy_context(toy, adapter), toy_text(toy), name=name)


def written_by(engine: Any, holes: Sequence[Hole]) -> list[WrittenHole]:
    return KeptHoles(None).write_all(engine, holes, num_at_once=1, on_done=lambda _: None)


def greedy_server(context: OpenContext) -> Any:
    """Return llama.cpp's answers with the next tokens of a toy model, one event each."""

    lock = threading.Lock()  # a closed connection's thread may still be at work

    def complete(request: dict[str, Any], connection: socket.socket) -> None:
        begin_events(connection)
        ids = list(request["prompt"])
        for _ in range(request["n_predict"]):
            with lock:
                context.prefill(ids)
                best = context.next_logits().log_softmax(-1).topk(request["n_probs"])
            likely = list(zip(best.indices.tolist(), best.values.tolist(), strict=True))
            top = [{"id": token, "logprob": log_p} for token, log_p in likely]
            scored = [{"id": likely[0][0], "logprob": likely[0][1], "top_logprobs": top}]
            ids.append(likely[0][0])
            connection.sendall(event(ids[-1:], completion_probabilities=scored))
        connection.sendall(last_event("limit"))

    return llama_cpp_answers(complete)


def test_our_engine_writes_what_a_user_gets(toy: Path, tmp_path: Path) -> None:
    adapter = save_adapter(tmp_path / "adapter.safetensors", toy)
    requests = fills(stop=("\n", "e"))
    holes = holes_of(toy, requests)
    info = ModelInfo(name="toy", family="", device="cpu", dtype="", notes=())
    filler = MaskedCausalFiller(toy_context(toy), toy_text(toy), info, max_context_tokens=256)
    texts = [run_fill(filler, request).text for request in requests]
    assert len({*texts}) > 2
    for engine in (own_engine(toy), own_engine(toy, adapter)):
        assert [hole.text for hole in written_by(engine, holes)] == texts


def test_a_server_with_the_same_weights_writes_the_same(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = save_toy(tmp_path / "other", toy_causal_model("qwen2", seed=1))
    settings = remote_settings(tmp_path, monkeypatch)
    holes, ours = holes_of(toy, fills()), own_engine(toy)
    for served, is_same in ((toy, True), (other, False)):
        with serving(greedy_server(toy_context(served))) as server:
            there = open_remote_engine(settings.write(server.url, tokenizer=str(toy)))
            systems = [(ours, written_by(ours, holes)), (there, written_by(there, holes))]
            (pair,) = compare(holes, systems, own_engine(toy))
        assert pair.names == ("ours", "llama.cpp (F16)")
        assert (pair.num_equal == len(holes)) == is_same
        for difference in pair.differences:
            expected = max(ours_at(ours, holes, difference).values())
            assert difference.first.log_p == pytest.approx(expected)
            assert difference.gap > 0 and not difference.is_near_tie
            assert difference.first.token != difference.second.token


def ours_at(ours: OwnEngine, holes: Sequence[Hole], difference: Any) -> Mapping[int, float]:
    (hole,) = (hole for hole in holes if hole.case == difference.case)
    ids = ours.write(hole.task).ids[: difference.position]
    return ours.likely([*hole.task.context, *ids])


@dataclass
class Scripted:
    """A system that writes these texts, and finds these tokens likely after any."""

    name: str
    likely_tokens: Mapping[int, float]
    texts: list[WrittenHole] = field(default_factory=list)

    def write(self, task: FillTask) -> WrittenHole:
        return self.texts.pop(0)

    def likely(self, ids: Sequence[int]) -> Mapping[int, float]:
        return self.likely_tokens


@pytest.mark.parametrize(
    ("judged", "gap", "is_near_tie"),
    [
        ({5: -0.70, 6: -0.71}, 0.01, True),
        ({5: -0.71, 6: -0.70}, 0.01, True),
        ({5: -0.20, 6: -1.80}, 1.6, False),
        ({5: -0.20}, float("inf"), False),
    ],
)
def test_the_judge_tells_a_near_tie(
    toy: Path, judged: Mapping[int, float], gap: float, is_near_tie: bool
) -> None:
    holes = holes_of(toy, fills()[:2])
    same = WrittenHole(ids=(4,), text="same")
    systems = [
        (Scripted("one", {5: -0.1, 6: -2.0}), [same, WrittenHole(ids=(4, 5, 9), text="a")]),
        (Scripted("other", {6: -0.3}), [same, WrittenHole(ids=(4,), text="b")]),  # ended there
    ]
    (pair,) = compare(holes, systems, Scripted("judge", judged))
    assert (pair.num_equal, pair.num_near_ties) == (1, int(is_near_tie))
    (difference,) = pair.differences
    assert (difference.case, difference.position) == (holes[1].case, 1)
    assert (difference.first.token, difference.second.token) == (5, 6)
    assert (difference.first.log_p, difference.first.other_log_p) == (-0.1, -2.0)
    assert (difference.second.log_p, difference.second.other_log_p) == (-0.3, None)
    assert difference.gap == pytest.approx(gap)
    assert difference.is_near_tie == is_near_tie


def test_an_interrupted_run_goes_on(toy: Path, tmp_path: Path) -> None:
    file, holes = tmp_path / "kept.jsonl", holes_of(toy, fills())
    ours = own_engine(toy)
    first = KeptHoles(file).write_all(ours, holes[:3], num_at_once=1, on_done=lambda _: None)
    left = Scripted("ours", {}, [WrittenHole(ids=(1,), text=str(number)) for number in range(3)])
    second = KeptHoles(file).write_all(left, holes, num_at_once=1, on_done=lambda _: None)
    assert second[:3] == first
    assert [hole.text for hole in second[3:]] == ["0", "1", "2"]
    longer = holes_of(toy, fills(max_tokens=9))[:1]
    KeptHoles(file).write_all(ours, longer, num_at_once=1, on_done=lambda _: None)
    assert len(file.read_text().splitlines()) == len(holes) + 1, "a longer hole is another one"
    file.write_text("{")
    with pytest.raises(EvaluationFault, match="cannot be read"):
        KeptHoles(file)


def test_holes_are_of_different_problems_and_the_seed_chooses(toy: Path) -> None:
    chosen = [
        line_holes(HUMANEVAL, toy_text(toy), num_holes=5, max_tokens=6, seed=seed)
        for seed in (7, 7, 8)
    ]
    cases = [[hole.case for hole in holes] for holes in chosen]
    assert cases[0] == cases[1] != cases[2]
    assert len({case.rpartition("/")[0] for case in cases[0]}) == 5
    assert all(hole.task.request.max_tokens == 6 for hole in chosen[0])
    assert all(hole.task.request.stop == ("\n",) for hole in chosen[0])


def test_the_command_prints_figures_and_differences(
    toy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = remote_settings(tmp_path, monkeypatch)
    assert command.main(["there", "--model", str(toy)]) == 1
    assert "no remote 'there'" in capsys.readouterr().err
    with serving(greedy_server(toy_context(toy))) as server:
        settings.write(server.url, tokenizer=str(toy))
        monkeypatch.setattr(command, "line_holes", lambda *_, **__: holes_of(toy, fills()))
        arguments = ["there", "--model", str(toy), "--dtype", "float32", "--at-once", "1"]
        assert command.main(arguments) == 0
    out = capsys.readouterr().out
    assert f"{len(PREFIXES)} texts equal, 0 differ at a near tie" in out


def remote_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RemoteSettings:
    folder = tmp_path / "config"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(folder))
    return RemoteSettings(folder / "remotes.toml")
