"""Sections of the benchmark, with engines that fill by rules, and on real servers; its pictures."""

import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from rule_engine import rule_engine_launch

from intarsia.engine.ipc.address import Address, resolve_address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.plan import FillOptions
from intarsia_research.benchmark import index
from intarsia_research.benchmark.cancel import CANCELS_A_HOLE, measure_cancel
from intarsia_research.benchmark.determinism import measure_determinism
from intarsia_research.benchmark.editor.sources import cut_lines
from intarsia_research.benchmark.figures import Bench, Figure, middle_of
from intarsia_research.benchmark.machine_energy import energy_meter
from intarsia_research.benchmark.memory import measure_memory
from intarsia_research.benchmark.pictures import draw_pictures
from intarsia_research.benchmark.start import (
    measure_first_fill,
    measure_prefill,
    measure_server,
    measure_start,
)
from intarsia_research.commands.bench import measure


async def test_engines_that_write_the_same_are_told_to(address: Address):
    client = EngineClient(name="test", start=False, address=address)
    bench = Bench(
        client=client,
        address=address,
        options=FillOptions(),
        repeats=2,
        launch=rule_engine_launch(text="return value"),
    )
    figures = await measure_determinism(bench)
    await client.close()
    assert {it.name: it.value for it in figures} == {
        "same_likeliest_again_share": 100,
        "same_likeliest_fresh_share": 100,
        "same_drawn_again_share": 100,
        "same_drawn_fresh_share": 100,
    }
    assert all("2 lines" in it.method for it in figures)


async def test_a_cancelled_fill_holds_the_next_one_up_for_a_step_and_not_for_all_of_them(address):
    step_s, num_steps = 0.04, 25
    launch = rule_engine_launch(text="value " * 40, step_seconds=step_s, num_steps=num_steps)
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload()
        bench = Bench(client=client, address=address, options=FillOptions(), repeats=2)
        figures = {it.name: it for it in await measure_cancel(bench)}
    p50 = figures["cancel_writing_p50_ms"]
    assert f"{2 * CANCELS_A_HOLE} fills" in p50.method
    assert 1000 * step_s <= (figures["cancel_pass_ms"].value or 0) < 1000 * step_s * num_steps
    assert 0 <= (p50.value or 0) < 1000 * step_s * num_steps / 4


async def test_each_figure_is_measured_and_nothing_is_left(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(index, "SIZES", (20, 60))
    monkeypatch.setattr(index, "IDLE_S", 0.5)
    monkeypatch.setenv("INTARSIA_CACHE_DIR", "/kept")
    figures = {it.name: it.value for it in await index.measure_index(cast(Bench, None))}
    assert {"index_change_ms", "index_choice_p95_ms", "index_idle_percent"} <= figures.keys()
    assert None not in figures.values()
    assert os.environ["INTARSIA_CACHE_DIR"] == "/kept"


async def interrupted(figures: Sequence[Figure]) -> AsyncIterator[Sequence[Figure]]:
    if figures:
        yield figures
    raise KeyboardInterrupt


def test_what_was_measured_before_ctrl_c_is_shown() -> None:
    figure = Figure(name="a_ms", words="a", unit="ms", value=1.0, method="")
    assert measure(interrupted([figure])) == ([figure], False)
    with pytest.raises(KeyboardInterrupt):
        measure(interrupted([]))


async def test_servers_are_started_and_answer() -> None:
    client = EngineClient(name="test", start=False)
    figures = await measure_server(
        Bench(client=client, address=resolve_address(), options=FillOptions(), repeats=1)
    )
    assert [figure.name for figure in figures] == ["initialize_s"]
    assert 0 < figures[0].value < 60
    await client.close()


def package(folder: Path, name: str, microjoules: int) -> Path:
    path = folder / name
    path.mkdir()
    (path / "max_energy_range_uj").write_text("10000000\n")
    (path / "energy_uj").write_text(f"{microjoules}\n")
    return path / "energy_uj"


def test_all_packages_are_summed_and_their_parts_are_not(tmp_path: Path):
    first = package(tmp_path, "intel-rapl:0", 1_000_000)
    second = package(tmp_path, "intel-rapl:1", 2_000_000)
    part = package(tmp_path, "intel-rapl:0:0", 0)
    meter = energy_meter(tmp_path)
    first.write_text("1500000")
    second.write_text("5000000")
    part.write_text("9000000")
    assert meter.joules() == 3.5
    assert meter.joules() == 0


def test_a_counter_that_has_begun_anew_goes_on(tmp_path: Path):
    counter = package(tmp_path, "intel-rapl:0", 9_000_000)
    meter = energy_meter(tmp_path)
    counter.write_text("500000")
    assert meter.joules() == 1.5


def test_a_machine_without_counters_has_no_meter(tmp_path: Path):
    assert energy_meter(tmp_path) is None
    assert energy_meter(tmp_path / "missing") is None
    (tmp_path / "intel-rapl:0").mkdir()
    assert energy_meter(tmp_path) is None


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


async def test_a_first_fill_uses_a_cache_of_its_own_and_keeps_the_download(
    address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path))
    launch = rule_engine_launch(text="return value")
    async with EngineClient(name="test", start=False) as client:
        bench = Bench(
            client=client, address=address, options=FillOptions(), repeats=1, launch=launch
        )
        (missing,) = await measure_first_fill(bench)
        assert missing.value is None
        (tmp_path / "models").mkdir()
        (tmp_path / "models" / "some.gguf").write_bytes(b"weights")
        (figure,) = await measure_first_fill(bench)
    assert 0 < figure.value < 60
    left = [path.name for path in tmp_path.rglob("*") if path.is_file()]  # noqa: ASYNC240
    assert left == ["some.gguf"]


def test_a_few_values_become_their_median_between_least_and_greatest():
    about = {"name": "a", "words": "a", "unit": "ms", "method": "by hand"}
    assert middle_of([3.0, 1.0, 2.0], **about).value == 2
    assert middle_of([3.0, 1.0, 2.0], **about).bounds == (1, 3)
    assert middle_of([3.0], **about).bounds is None
    assert middle_of([], **about).value is None


def figure(name: str, value: float | None, bounds: tuple[float, float] | None = None) -> Figure:
    return Figure(name=name, words=name, value=value, unit="ms", method="by hand", bounds=bounds)


FIGURES = [
    figure("side_intarsia_warm_p50_ms", 200.0),
    figure("side_intarsia_warm_p95_ms", 300.0, (250.0, 350.0)),
    figure("side_llama_cpp_warm_p50_ms", 500.0),
    figure("side_llama_cpp_warm_p95_ms", None),
]


def test_a_picture_is_drawn_of_what_there_is_and_of_nothing_else(tmp_path: Path):
    drawn = draw_pictures(FIGURES, tmp_path / "new")
    assert drawn == [tmp_path / "new" / "bench-warm.svg"]
    shown = drawn[0].read_text(encoding="utf-8")
    assert ">llama.cpp<" in shown and ">p95<" in shown
    assert ">transformers<" not in shown
