"""Systems take turns at real holes; the baseline is a small program that speaks as one."""

from pathlib import Path

from drawn_bars import drawn_bars
from infill_server import write_program
from rule_engine import rule_engine_launch

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.editor.sources import cut_lines
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.side_by_side import measure_side_by_side, plan_line
from intarsia_research.benchmark.systems import start_systems
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
