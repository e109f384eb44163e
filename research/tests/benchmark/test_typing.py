"""Users who type, alone or at once, and who edit real files: the same keys each time."""

import itertools
import random
from pathlib import Path

import pytest
from drawn_bars import drawn_bars
from infill_server import write_program
from rule_engine import rule_engine_launch

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.plan import FillOptions
from intarsia_research.benchmark.editing import MOMENTS, measure_editing
from intarsia_research.benchmark.editing import figures_of as shares_of
from intarsia_research.benchmark.editor.foreign_files import PACKAGES, cut_in_lines, foreign_files
from intarsia_research.benchmark.editor.sources import cut_lines
from intarsia_research.benchmark.editor.typing_keys import keys_of, typed_lines, typing_places
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.typing import has_text, measure_typing, settled_text
from intarsia_research.benchmark.typing_baseline import measure_typing_baseline
from intarsia_research.benchmark.typing_figures import KeyFates, figures_of
from intarsia_research.benchmark.users import FEWEST_KEYS, MOST_KEYS, measure_users
from intarsia_research.benchmark.users import keys_of as keys_with_halts
from intarsia_research.errors import BenchmarkFault
from intarsia_research.evaluation.systems.llama_cpp import llama_cpp


@pytest.mark.parametrize("number", range(6))
def test_the_keys_write_the_lines_with_every_slip_taken_back(number: int):
    line = cut_lines(6)[number]
    keys = list(keys_of(line, random.Random(number)))
    typed = ""
    for key in keys:
        typed = typed + key.text if key.text else typed[:-1]
    assert typed.rstrip() == typed_lines(line).rstrip()
    assert "\n" in typed
    assert keys == list(keys_of(line, random.Random(number)))


@pytest.mark.parametrize(
    ("step_seconds", "pace", "are_answered"), [(0.0, 0.5, True), (5.0, 2, False)]
)
async def test_a_key_is_answered_or_overtaken(address, step_seconds, pace, are_answered):
    launch = rule_engine_launch(text="value", step_seconds=step_seconds)
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload()
        bench = Bench(client=client, address=address, options=FillOptions(), repeats=1)
        figures = {it.name: it.value for it in await measure_typing(bench, pace=pace)}
    assert (figures["typing_answered_share"] > 0) is are_answered
    assert figures["typing_prompt_share"] <= figures["typing_answered_share"]


async def test_a_draft_is_something_to_see_before_the_whole_answer(address: Address):
    """Ten steps of 120 ms are more than a pause between two keys; the first ones settle words.

    The model has no calibration: no draft of it may be hidden.
    """
    options = FillOptions(model="uncalibrated")
    launch = rule_engine_launch(text="value = one + two * three - four", step_seconds=0.12)
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload(options.model)
        bench = Bench(client=client, address=address, options=options, repeats=1)
        figures = {it.name: it.value for it in await measure_typing(bench, pace=0.5)}
    assert (figures["typing_shown_share"] or 0) > (figures["typing_text_share"] or 0)
    assert (figures["typing_shown_p50_ms"] or 0) > 0


async def test_the_same_keys_are_typed_to_a_baseline(address: Address, tmp_path: Path):
    baseline = llama_cpp(write_program(tmp_path), tmp_path / "good.gguf")
    client = EngineClient(name="test", start=False, address=address)
    bench = Bench(
        client=client, address=address, options=FillOptions(), repeats=1, baselines=(baseline,)
    )
    places = typing_places(1, pace=4)
    figures = {it.name: it for it in await measure_typing_baseline(bench, places)}
    assert drawn_bars(list(figures.values())) == {"bench-typing.svg": ["llama.cpp"]}
    await client.close()
    assert f"{len(places[0].keys)} keys" in figures["typing_llama_cpp_prompt_share"].method
    assert (figures["typing_llama_cpp_answered_share"].value or 0) > 50
    assert (figures["typing_llama_cpp_text_share"].value or 0) > 50


def test_what_has_settled_of_a_draft_ends_at_its_first_guess():
    tokens = [("return", True), (" a", True), (" +", False), (" b", True)]
    draft = {"tokens": [{"text": text, "settled": is_settled} for text, is_settled in tokens]}
    assert settled_text(draft) == "return a"
    assert settled_text({"tokens": []}) == ""


@pytest.mark.parametrize(
    ("result", "shows"),
    [
        (None, False),
        ([], False),
        ({"items": []}, False),
        ({"items": [{"insertText": ""}]}, False),
        ({"items": [{"insertText": "a"}]}, True),
        ([{"insertText": "a"}], True),
    ],
)
def test_an_answer_has_a_text_or_it_has_none(result: object, shows: bool):
    assert has_text(result) is shows


def test_shares_are_of_all_keys_and_times_of_those_that_saw_something():
    fates = KeyFates(num_keys=10, answered_ms=[100, 400], text_ms=[400], shown_ms=[50, 100, 350])
    figures = figures_of(fates, key="typing", who="", way="", num_places=1, draft="")
    assert {it.name: it.value for it in figures} == {
        "typing_prompt_share": 10,
        "typing_answered_share": 20,
        "typing_text_share": 0,
        "typing_shown_share": 20,
        "typing_p50_ms": 100,
        "typing_p95_ms": 400,
        "typing_p99_ms": 400,
        "typing_shown_p50_ms": 100,
        "typing_shown_p95_ms": 350,
        "typing_shown_p99_ms": 350,
    }


@pytest.mark.parametrize("number", range(4))
def test_the_same_keys_are_typed_each_time_with_a_halt_after_some_of_them(number: int):
    line = cut_lines(4)[number]
    keys = list(keys_with_halts(line, random.Random(number), 20))
    assert keys == list(keys_with_halts(line, random.Random(number), 20))
    assert all(0 < key.num_typed < line.end - line.start for key in keys)
    assert sum(key.is_halt for key in keys) == 20
    assert keys[-1].is_halt
    halts = [-1, *(at for at, key in enumerate(keys) if key.is_halt)]
    between = {after - before for before, after in itertools.pairwise(halts)}
    assert between <= set(range(FEWEST_KEYS, MOST_KEYS + 1))
    assert len(between) > 1


async def test_four_users_of_a_busy_engine_wait_longer_than_each_alone(address: Address):
    launch = rule_engine_launch(text="value", step_seconds=0.05, num_steps=2)
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload()
        bench = Bench(client=client, address=address, options=FillOptions(), repeats=3)
        figures = {it.name: it.value for it in await measure_users(bench, pace=20)}
    assert len(figures) == 3 * 3 + 4 * 3 + 3
    assert figures["users_1_p50_ms"] >= 100
    assert figures["users_4_p50_ratio"] > 1.2
    assert 1 <= figures["users_4_worst_to_best"] < 10


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
    figures = {it.name: it.value for it in shares_of("rich", 4, {"accepted": [3, 29, 31, 900]})}
    assert figures["editing_rich_accepted_immediate_share"] == 50
    assert figures["editing_rich_accepted_p95_ms"] == 900
    assert figures["editing_rich_jump_p50_ms"] is None
