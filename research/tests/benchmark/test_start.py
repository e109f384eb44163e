"""The language server's start is measured on real servers."""

from intarsia.engine.ipc.address import resolve_address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.start import measure_server


async def test_servers_are_started_and_answer() -> None:
    client = EngineClient(name="test", start=False)
    figures = await measure_server(
        Bench(client=client, address=resolve_address(), options=FillOptions(), repeats=1)
    )
    assert [figure.name for figure in figures] == ["initialize_s"]
    assert 0 < figures[0].value < 60
    await client.close()
