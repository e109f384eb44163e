"""Systems take turns at real holes; the baseline is a small program that speaks as one."""

from pathlib import Path

from command_line import run
from infill_server import write_program
from plotted_lines import plotted_lines
from rule_engine import rule_engine_launch

from intarsia.cli.errors import ExitCode
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.editor.sources import cut_bodies, cut_lines
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.hole_lengths import NUM_LINES, measure_hole_lengths, plan_body
from intarsia_research.benchmark.side_by_side import measure_side_by_side, plan_line
from intarsia_research.benchmark.systems import start_systems
from intarsia_research.evaluation.systems.llama_cpp import llama_cpp


def bench_of(client: EngineClient, address: Address, folder: Path) -> Bench:
    baseline = llama_cpp(write_program(folder), folder / "good.gguf")
    return Bench(
        client=client, address=address, options=FillOptions(), repeats=2, baselines=(baseline,)
    )


async def test_everyone_is_asked_for_the_same_hole_with_the_same_stop(
    address: Address, tmp_path: Path
):
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
    assert plotted_lines(figures) == {"bench-warm.svg": both, "bench-cold.svg": both}


async def test_without_baselines_there_is_nothing_to_pair(address: Address):
    client = EngineClient(name="test", start=False, address=address)
    alone = Bench(client=client, address=address, options=FillOptions(), repeats=1)
    assert await measure_side_by_side(alone) == []
    await client.close()


async def test_blocks_of_each_length_are_filled_by_both(address: Address, tmp_path: Path):
    launch = rule_engine_launch(text="value = 1\nother = 2")
    async with EngineClient(name="test", launch=launch, address=address) as client:
        figures = await measure_hole_lengths(bench_of(client, address, tmp_path))
    found = {it.name: it.value for it in figures}
    for num_lines in NUM_LINES:
        assert found[f"hole_intarsia_{num_lines}_lines_tokens_per_pass"] == 1
        assert found[f"hole_llama_cpp_{num_lines}_lines_tokens"] == 4
    assert plotted_lines(figures) == {"bench-holes.svg": ["intarsia", "llama.cpp"]}


def test_a_body_is_whole_and_is_asked_for_as_a_block():
    for num_lines in NUM_LINES:
        bodies = cut_bodies(3, num_lines)
        assert len({body.file for body in bodies}) == 3
        for body in bodies:
            lines = body.text[body.start : body.end].splitlines()
            above = body.text[: body.start].splitlines()
            assert len(lines) == num_lines
            assert above[-2].lstrip().startswith("def ")
            assert not above[-1].strip()
            assert all(line.startswith(above[-1]) for line in lines[1:])
            assert plan_body(body, FillOptions()).canvas.kind == "block"


def test_an_unknown_section_is_told_which_there_are():
    result = run("bench", "--only", "speed")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "side-by-side" in result.stderr


def test_a_section_beside_others_needs_others():
    result = run("bench", "--only", "side-by-side")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "--against" in result.stderr
