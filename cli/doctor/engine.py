"""Check the engine: the folder of its socket, whether it answers, and how quickly it reads."""

import asyncio
import os

from intarsia.cli.doctor.finding import Finding, missing, note, ok
from intarsia.cli.remote import probe
from intarsia.cli.status import ask_status
from intarsia.engine.errors import ModelError
from intarsia.engine.ipc.address import prepare_directory, resolve_address
from intarsia.engine.ipc.client import EngineError, NoEngine
from intarsia.engine.ipc.context_budget import context_budget
from intarsia.engine.remote.settings.remotes import read_remotes


def check_runtime_folder() -> Finding:
    """Check that only the user has access to the folder of the engine's socket."""
    try:
        folder = resolve_address().directory
        if not os.path.lexists(folder):
            return ok("socket", f"{folder} (created when the engine starts)")
        prepare_directory(folder)
    except EngineError as error:
        return missing("socket", *_what_and_advice(error))
    return ok("socket", f"{folder}, yours alone")


def check_engine() -> Finding:
    """Check whether the engine runs and answers."""
    try:
        return ok("engine", asyncio.run(_ask_engine()))
    except NoEngine:
        return ok("engine", "not running; the next fill starts it")
    except EngineError as error:
        return missing("engine", *_what_and_advice(error))


def check_reading_speed() -> Finding:
    """Show how quickly the engine reads, and how much code of other files that allows."""
    try:
        tokens_per_s = asyncio.run(ask_status()).prefill_tokens_per_s
    except EngineError:  # the check of the engine says which
        tokens_per_s = None
    budget = f"up to {context_budget(tokens_per_s):,} tokens of other files before a hole"
    if tokens_per_s is None:
        return ok("reading", f"{budget} (speed not measured yet)")
    return ok("reading", f"{tokens_per_s:,.0f} tokens a second; {budget}")


async def _ask_engine() -> str:
    status = await ask_status()
    model = "no model loaded yet"
    if status.model is not None:
        model = f"{status.model} ({status.dtype} on {status.device})"
    return f"{status.state}, {model}, process {status.pid}"


def _what_and_advice(error: EngineError) -> tuple[str, str]:
    """Return the parts of an error: the engine's messages have advice after a colon."""
    what, _, advice = str(error).partition(": ")
    return what, advice or "see its log"


def check_remotes() -> Finding:
    """Ask each remote what it is. A faulty settings file is found here too."""
    try:
        remotes = list(read_remotes().values())
    except ModelError as error:
        what, _, advice = str(error).rpartition(": ")
        return missing("remotes", what, advice)
    if not remotes:
        return ok("remotes", "none: all is computed on this machine")
    probes = [probe(remote) for remote in remotes]
    usable = [one for one in probes if one.is_usable]
    named = [f"{one.remote.name} ({one.remote.address.shown})" for one in usable]
    found = f"{len(usable)} of {len(probes)} can fill holes" + "".join(f"; {n}" for n in named)
    problem = next((one.problem for one in probes if one.problem is not None), None)
    if problem is None:
        return ok("remotes", found)
    return note("remotes", found, problem)
