"""What the benchmarks of VS Code share: an engine, a browser, an editor, figures, the report.

Open them in this order: loading the engine needs an event loop, and the browser's driver keeps one.
"""

import asyncio
import json
import os
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from code_server import CodeServer, code_server
from installation import SERVER, chromium_program
from playwright.sync_api import Browser, sync_playwright
from temporary_address import temporary_address
from windows import CHROMIUM_FLAGS

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient


@contextmanager
def loaded_engine() -> Iterator[Address]:
    """Run an engine of this benchmark's own, its model loaded."""
    with temporary_address() as address:
        asyncio.run(_load(address))
        yield address


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a browser without a screen."""
    with sync_playwright() as playwright:
        program = chromium_program()
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@contextmanager
def vscode(
    address: Address, extension: Path | None, settings: Mapping[str, object]
) -> Iterator[CodeServer]:
    """Run a VS Code with this extension, or with none, that finds the engine there."""
    with (
        tempfile.TemporaryDirectory(prefix="int-", ignore_cleanup_errors=True) as folder,
        code_server(
            Path(folder),
            {**os.environ, **address.as_environment()},
            extensions=[] if extension is None else [extension],
            settings={"intarsia.serverCommand": list(SERVER), **settings},
        ) as server,
    ):
        yield server


async def _load(address: Address) -> None:
    async with EngineClient(name="bench", address=address) as client:
        await client.preload()


def p50_p95(values: Sequence[float]) -> str:
    """Return the two percentiles in words; milliseconds."""
    return f"p50 {percentile(values, 50):6.1f} ms   p95 {percentile(values, 95):6.1f} ms"


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the percentile of the values."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def report(
    figures: Mapping[str, object], rows: Sequence[tuple[str, str]], path: Path | None
) -> None:
    """Print a table; write the figures as JSON where a path is named."""
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}", flush=True)  # noqa: T201
    if path is not None:
        path.write_text(json.dumps(figures, indent=2) + "\n")
