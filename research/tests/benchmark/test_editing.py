"""A user works on real files of foreign packages; each moment of waiting has its figures."""

import random

import pytest
from rule_engine import rule_engine_launch

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.editing import MOMENTS, figures_of, measure_editing
from intarsia_research.benchmark.editor.foreign_files import PACKAGES, cut_in_lines, foreign_files
from intarsia_research.benchmark.figures import Bench
from intarsia_research.errors import BenchmarkFault


@pytest.mark.parametrize("package", PACKAGES)
def test_there_are_twenty_long_files_and_the_same_each_time(package: str):
    files = foreign_files(package, 20)
    assert len({file.path for file in files}) == 20
    assert files == foreign_files(package, 20)


def test_a_package_that_is_missing_is_named():
    with pytest.raises(BenchmarkFault, match="pip install no_such_package"):
        foreign_files("no_such_package", 1)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_cut_is_the_rest_of_a_line_of_code_from_a_word_on(package: str):
    for file in foreign_files(package, 20):
        cut = cut_in_lines(file.text, range(100, 200), random.Random(1))
        assert cut is not None
        assert "\n" not in file.text[cut.start : cut.end]
        assert file.text[cut.end] == "\n"
        assert file.text[cut.start].isidentifier() or file.text[cut.start].isdigit()
        line = file.text[file.text.rfind("\n", 0, cut.start) + 1 : cut.start]
        assert line.strip()


def test_lines_without_code_are_not_cut():
    assert (
        cut_in_lines("\n# a comment with several words\n\nx = 1\n", range(4), random.Random(1))
        is None
    )


async def test_each_moment_is_measured(address: Address):
    launch = rule_engine_launch(text="value)")
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload()
        bench = Bench(
            client=client, address=address, options=FillOptions(), repeats=3, launch=launch
        )
        figures = {it.name: it for it in await measure_editing(bench, pace=20)}
    for package in PACKAGES:
        for moment in MOMENTS.keys() - {"long_ago", "below_nothing"}:
            figure = figures[f"editing_{package}_{moment}_p50_ms"]
            assert figure.value is not None and figure.value > 0, moment
        assert "--repeats 16" in figures[f"editing_{package}_long_ago_p50_ms"].method


def test_the_share_of_immediate_answers_is_of_all_accepted_suggestions():
    figures = {it.name: it.value for it in figures_of("rich", 4, {"accepted": [3, 29, 31, 900]})}
    assert figures["editing_rich_accepted_immediate_share"] == 50
    assert figures["editing_rich_accepted_p95_ms"] == 900
    assert figures["editing_rich_jump_p50_ms"] is None
