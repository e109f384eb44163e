"""The language server's own time is measured between a real server and a real engine."""

from rule_engine import rule_engine_launch

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.editor.sources import long_source
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.requests import measure_requests


async def test_every_request_of_a_server_is_timed_without_the_engines_part(address: Address):
    launch = rule_engine_launch(text="self.value", step_seconds=0.2)
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload()
        bench = Bench(client=client, address=address, options=FillOptions(), repeats=1)
        figures = await measure_requests(bench, num_requests=12)
        status = await client.status()
    assert [figure.name for figure in figures] == ["server_p50_ms", "server_p95_ms"]
    assert all(figure.value > 0 for figure in figures)
    assert "12 requests" in figures[0].method
    assert status.num_fills == 12


def test_a_long_source_has_as_many_lines_as_asked_for():
    assert len(long_source(2_000).splitlines()) == 2_000
