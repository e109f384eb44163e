"""``intarsia status`` and ``intarsia stop``, with an engine and without."""

import asyncio
import json
import re

from command_line import run

from intarsia.cli.errors import ExitCode
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import AheadReport


def test_status_without_an_engine_has_its_own_exit_code():
    result = run("status")
    assert result.exit_code == ExitCode.ENGINE
    assert result.stderr.startswith("intarsia: the engine is not running")
    assert json.loads(run("status", "--json").stdout)["exit_code"] == ExitCode.ENGINE


def test_status_says_in_plain_words_what_the_engine_does(start_engine):
    start_engine()
    result = run("status")
    assert result.exit_code == 0, result.stderr
    assert "none loaded yet" in result.stdout
    assert "0 besides this command" in result.stdout


async def report(*reports: AheadReport) -> None:
    """Send reports as a client, and wait until the engine has them."""
    async with EngineClient(name="test", start=False) as client:
        await client.status()
        for each in reports:
            client.report_ahead(each)
        await client.status()


def test_status_says_what_the_fills_ahead_have_brought(start_engine):
    start_engine()
    assert re.search(r"fills ahead\s+none", run("status").stdout)
    asyncio.run(
        report(
            AheadReport(num_asked=2, spent_s=3.0),
            AheadReport(num_asked=1, num_hits=2, spent_s=2.0, used_s=4.0),
        )
    )
    assert "3 asked, 2 of use; 1 s wasted" in run("status").stdout


def test_status_as_json_has_the_engine_s_own_fields(start_engine):
    start_engine()
    status = json.loads(run("status", "--json").stdout)
    assert status["state"] == "idle"
    assert status["pid"] > 0


def test_stop_ends_the_engine(start_engine):
    start_engine()
    result = run("stop")
    assert (result.exit_code, result.stdout) == (0, "The engine has ended.\n")
    assert run("status").exit_code == ExitCode.ENGINE


def test_stop_without_an_engine_is_no_fault():
    result = run("stop")
    assert (result.exit_code, result.stdout) == (0, "The engine was not running.\n")
