"""Systems take turns at real holes, and what is told of their answers."""

from dataclasses import replace
from pathlib import Path

import pytest
from drawn_bars import drawn_bars
from infill_server import write_program
from rule_engine import rule_engine_launch

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.plan import FillOptions
from intarsia_research.benchmark.editor.sources import cut_lines
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.side_by_side import measure_side_by_side, plan_line
from intarsia_research.benchmark.side_by_side_figures import (
    HoleAnswers,
    Measured,
    TimedPair,
    figures_of,
    is_same_line,
    mean_ratio,
    pairs_of,
)
from intarsia_research.benchmark.systems import start_systems
from intarsia_research.evaluation.answer import Answer, failed
from intarsia_research.evaluation.systems.llama_cpp import llama_cpp


def bench_of(client: EngineClient, address: Address, folder: Path) -> Bench:
    baseline = llama_cpp(write_program(folder), folder / "good.gguf")
    return Bench(
        client=client, address=address, options=FillOptions(), repeats=2, baselines=(baseline,)
    )


async def test_everyone_is_asked_for_the_same_hole_with_the_same_stop(address: Address, tmp_path):
    launch = rule_engine_launch(text="return value\nmore")
    async with EngineClient(name="test", launch=launch, address=address) as client:
        async with start_systems(bench_of(client, address, tmp_path)) as (ours, baseline):
            plan = plan_line(cut_lines(1)[0], FillOptions())
            assert (await ours.fill(plan)).text == "return value"
            # The small program gives back what it was asked.
            asked = (await baseline.fill(plan)).text
            assert plan.canvas.stop == ("\n",)
            assert '"stop": ["\\n"]' in asked
            assert f'"n_predict": {plan.canvas.max_tokens}' in asked
            short = plan_line(cut_lines(1)[0], FillOptions(max_tokens=1))
            assert (await ours.fill(short)).text == "return"
            assert '"n_predict": 1,' in (await baseline.fill(short)).text
        assert ours.pid != baseline.pid


async def test_holes_are_filled_in_turns_and_paired(address: Address, tmp_path: Path):
    launch = rule_engine_launch(text="return value")
    async with EngineClient(name="test", launch=launch, address=address) as client:
        figures = await measure_side_by_side(bench_of(client, address, tmp_path))
    found = {it.name: it.value for it in figures}
    assert len(found) == len(figures)
    assert found["side_llama_cpp_same_share"] == 0
    assert found["ratio_llama_cpp_warm_all"] is not None
    assert found["ratio_llama_cpp_warm_same_text"] is None
    assert found["side_intarsia_tokens_per_pass"] == 1
    assert found["side_llama_cpp_passes"] == 4
    assert all(value is None or value >= 0 for value in found.values())
    both = ["intarsia", "llama.cpp"]
    assert drawn_bars(figures) == {"bench-warm.svg": both, "bench-cold.svg": both}


def answer(text: str, ms: float, *, num_forwards: int = 4) -> Answer:
    return Answer(
        text=text,
        reason=None,
        ms=ms,
        engine_ms=ms,
        read_ms=ms / 4,
        num_forwards=num_forwards,
        num_tokens=8,
    )


def hole(group: str, ours: Answer, theirs: Answer, warm_ms: tuple[float, ...]) -> HoleAnswers:
    warm = {
        "intarsia": [replace(ours, ms=ms) for ms in warm_ms],
        "llama.cpp": [replace(theirs, ms=2 * ms) for ms in warm_ms],
    }
    return HoleAnswers(group=group, cold={"intarsia": ours, "llama.cpp": theirs}, warm=warm)


HOLES = [
    hole("a.py", answer("x = 1", 400), answer("x = 1 ", 100), (30, 10, 20)),
    hole("b.py", answer("x = 1", 400), answer("x = 2", 100), (100, 200, 300)),
]
MEASURED = Measured(
    names=("intarsia", "llama.cpp"),
    holes=HOLES,
    resident_bytes={"intarsia": 2_000_000_000, "llama.cpp": 500_000_000},
    joules_per_fill=None,
    others_share=0.01,
)


def test_a_pair_has_the_median_times_of_a_hole():
    pairs = pairs_of(HOLES, "intarsia", "llama.cpp", "warm")
    assert [(it.group, it.ms, it.other_ms) for it in pairs] == [
        ("a.py", 20, 40),
        ("b.py", 200, 400),
    ]
    assert [it.is_same_text for it in pairs] == [True, False]


def test_a_hole_that_one_has_not_answered_is_no_pair():
    silent = failed("refused", 7)
    broken = hole("c.py", answer("x", 400), silent, (10,))
    assert pairs_of([broken], "intarsia", "llama.cpp", "cold") == []


def test_each_has_times_work_and_memory_and_pairs_have_ratios():
    found = {it.name: it for it in figures_of(MEASURED)}
    values = {name: it.value for name, it in found.items()}
    assert len(values) == len(figures_of(MEASURED))
    assert values["side_intarsia_warm_p50_ms"] == 30
    assert values["side_intarsia_warm_p99_ms"] == 300
    assert values["side_llama_cpp_cold_p95_ms"] == 100
    assert values["side_intarsia_cold_read_share"] == 25
    assert values["side_intarsia_passes"] == 4
    assert values["side_intarsia_tokens_per_pass"] == 2
    assert values["side_intarsia_pass_ms"] == pytest.approx(75)  # 400 ms less a quarter, 4 passes
    assert values["side_intarsia_token_ms"] == pytest.approx(37.5)
    assert values["side_llama_cpp_resident_gb"] == 0.5
    assert values["side_llama_cpp_same_share"] == 50
    assert values["ratio_llama_cpp_warm_all"] == pytest.approx(0.5)
    assert values["ratio_llama_cpp_cold_all"] == pytest.approx(4.0)
    assert values["ratio_llama_cpp_cold_same_text"] == pytest.approx(4.0)
    assert values["side_others_share"] == 1


def test_nobody_who_never_answered_has_a_time():
    silent = failed("refused", 7)
    holes = [HoleAnswers(group="a", cold={"intarsia": silent}, warm={"intarsia": [silent]})]
    names = [it.name for it in figures_of(replace(MEASURED, names=("intarsia",), holes=holes))]
    assert names == ["side_intarsia_resident_gb", "side_intarsia_joules", "side_others_share"]


def pair(ms: float, other_ms: float, group: str = "a") -> TimedPair:
    return TimedPair(group=group, ms=ms, other_ms=other_ms, is_same_text=True)


def test_twice_as_long_and_half_as_long_are_as_long():
    found = mean_ratio([pair(200, 100, "a"), pair(50, 100, "b")])
    assert found.value == pytest.approx(1.0)
    assert found.low == pytest.approx(0.5)
    assert found.high == pytest.approx(2.0)
    assert found.of == 2


def test_pairs_that_agree_leave_no_doubt():
    found = mean_ratio([pair(ms, 4 * ms, str(ms)) for ms in (100, 300, 1000)])
    assert (found.low, found.value, found.high) == pytest.approx((0.25, 0.25, 0.25))
    assert mean_ratio([]) is None


@pytest.mark.parametrize(
    ("text", "other", "is_same"),
    [
        ("return a", "return a  ", True),
        ("return a", "return a\nreturn b", True),
        ("return a", " return a", False),
        ("return a", "return b", False),
        ("", "\nreturn", True),
    ],
)
def test_texts_are_compared_by_their_first_line(text: str, other: str, is_same: bool):
    assert is_same_line(text, other) is is_same
