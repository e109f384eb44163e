"""The benchmark's arithmetic and its holes. Its figures are no test."""

import pytest
from rule_engine import rule_engine_launch

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.editor.sources import cut_lines
from intarsia_research.benchmark.figures import Bench, percentile
from intarsia_research.benchmark.machine import describe_machine
from intarsia_research.benchmark.memory import measure_memory
from intarsia_research.benchmark.start import measure_prefill, measure_start


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([3.0], 50, 3.0), ([1, 2, 3, 4], 50, 2), ([4, 1, 3, 2], 95, 4), (list(range(100)), 95, 94)],
)
def test_a_percentile_is_a_value_that_was_measured(
    values: list[float], percent: float, expected: float
):
    assert percentile(values, percent) == expected


def test_the_same_python_gives_the_same_holes_each_in_a_file_of_its_own():
    lines = cut_lines(8)
    assert lines == cut_lines(8)
    assert len({line.file for line in lines}) == 8


def test_each_hole_is_a_line_without_its_indentation():
    for line in cut_lines(8):
        cut = line.text[line.start : line.end]
        assert cut == cut.strip()
        assert "\n" not in cut
        assert line.text[: line.start].rsplit("\n", 1)[-1].strip() == ""
        assert line.text[line.end :].split("\n")[0].strip() == ""


def test_the_machine_is_named_in_one_line():
    assert "cores" in describe_machine()
    assert "\n" not in describe_machine()


async def test_every_section_that_asks_the_engine_finds_figures_of_its_own(address: Address):
    sections = (measure_start, measure_prefill, measure_memory)
    launch = rule_engine_launch(text="return value")
    async with EngineClient(name="test", launch=launch, address=address) as client:
        bench = Bench(
            client=client, address=address, options=FillOptions(), repeats=2, launch=launch
        )
        figures = [figure for measure in sections for figure in await measure(bench)]
    names = [figure.name for figure in figures]
    assert len(set(names)) == len(names)
    assert {"engine_start_warm_s", "memory_16k_gb"} <= set(names)
    assert all(figure.value >= 0 for figure in figures)
