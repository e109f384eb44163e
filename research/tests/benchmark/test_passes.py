"""The benchmark's section on passes: what the measuring program prints, and its faults."""

import subprocess
import sys

import msgspec
import pytest

from intarsia.cli.errors import ExitCode, as_fault
from intarsia.engine.errors import ModelError
from intarsia.engine.ipc.address import resolve_address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.passes import figures_of, measure_passes
from intarsia_research.model_cost.pass_figures import PassFigures


def test_what_was_measured_becomes_figures():
    measured = PassFigures(
        model="toy",
        context_tokens=1024,
        repeats=8,
        pass_ms={1: 60.0, 64: 150.0},
        load_s=1.5,
        loaded_bytes=400_000_000,
        working_bytes=1_400_000_000,
    )
    figures = {figure.name: figure for figure in figures_of(msgspec.json.encode(measured))}
    assert {name: figure.value for name, figure in figures.items()} == {
        "pass_1_rows_ms": 60.0,
        "pass_64_rows_ms": 150.0,
        "model_load_s": 1.5,
        "model_loaded_gb": 0.4,
        "model_working_gb": 1.4,
    }
    assert figures["pass_64_rows_ms"].words == "a pass over a canvas, 64 rows"
    assert "1,024 tokens" in figures["pass_1_rows_ms"].method


async def test_a_model_that_is_none_is_one_line():
    client = EngineClient(name="test", start=False)
    bench = Bench(
        client=client, address=resolve_address(), options=FillOptions(model="none"), repeats=1
    )
    with pytest.raises(ModelError, match=r"passes could not be measured: no model 'none'") as found:
        await measure_passes(bench)
    assert as_fault(found.value).code is ExitCode.MODEL
    assert "\n" not in str(found.value)


@pytest.mark.model
def test_the_default_model_is_measured_at_every_size():
    command = [sys.executable, "-P", "-m", "intarsia_research.model_cost.pass_cost", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    measured = msgspec.json.decode(done.stdout, type=PassFigures)
    assert list(measured.pass_ms) == [1, 8, 16, 32, 64]
    assert all(ms > 0 for ms in measured.pass_ms.values())
    assert measured.repeats >= 8
    assert measured.loaded_bytes > 0
    assert measured.working_bytes < 2.5e9
