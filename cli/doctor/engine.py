"""Check the engine and its model: socket, speed, cache, weights, adapter, grammars.

Each check returns what it found and, if something is missing, what to do. None changes anything.
"""

import asyncio
import os
import shutil

from intarsia.cli.doctor.finding import Finding, missing, note, ok
from intarsia.cli.remote import probe
from intarsia.cli.status import ask_status
from intarsia.cli.terminal import size
from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.errors import ModelError
from intarsia.engine.ipc.address import prepare_directory, resolve_address
from intarsia.engine.ipc.client import EngineError, NoEngine
from intarsia.engine.ipc.context_budget import context_budget
from intarsia.engine.ipc.ownership import weakness_of
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, CatalogModel, find_model
from intarsia.engine.remote.settings.remotes import read_remotes
from intarsia.infill.languages import LANGUAGES
from intarsia.infill.syntax.grammar import load_grammar


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


_CONVERSION_FACTOR = 3.0
"""Size of the converted model over that of the downloaded file."""


def check_cache() -> Finding:
    """Check that the cache folder is writable and its disk has room for the model."""
    folder = cache_folder()
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(nearest).free
    found = f"{folder} ({size(free)} free)"
    weakness = weakness_of(folder) if nearest == folder else None
    if weakness is not None:
        return missing(
            "cache",
            str(weakness),
            f"{weakness.remedy}, or set INTARSIA_CACHE_DIR to a folder of your own",
        )
    if not os.access(nearest, os.W_OK):
        return missing(
            "cache",
            f"{found} cannot be written",
            "make it writable, or set INTARSIA_CACHE_DIR to a folder that is",
        )
    needed = _bytes_to_come(_default_model())
    if free < needed:
        return missing(
            "cache", found, f"{size(needed)} are needed: free some, or set INTARSIA_CACHE_DIR"
        )
    return ok("cache", found)


def check_model() -> Finding:
    """Check that the default model is downloaded and undamaged."""
    from intarsia.engine.cache.own_file import has_digest
    from intarsia.engine.model_store.download import downloaded_file

    model = _default_model()
    path = downloaded_file(model)
    if not path.is_file():
        return missing("model", f"{model.name} is not downloaded", "run `intarsia pull`")
    if not has_digest(path, model.sha256):
        return missing(
            "model", f"{path} is damaged (wrong sha256)", "remove it and run `intarsia pull`"
        )
    return ok("model", f"{model.name}, verified ({size(model.num_bytes)})")


def check_conversion() -> Finding:
    """Check that the converted default model is as it was when this user converted it."""
    from intarsia.engine.model_store.gguf.convert import problem_of_conversion
    from intarsia.engine.model_store.locate import catalog_folder

    model = _default_model()
    folder = catalog_folder(model, model.tuning)
    if not folder.exists():
        return ok("conversion", "none yet; the first fill makes it")
    if (problem := problem_of_conversion(folder)) is not None:
        return note("conversion", problem, "the engine converts the model again when it loads it")
    if (problem := problem_of_conversion(folder, is_whole=True)) is not None:
        return missing(
            "conversion", problem, f"remove {folder}: the engine converts the model again"
        )
    return ok("conversion", f"{folder.name}, verified")


def check_adapter() -> Finding:
    """Check that the default model's adapter is bundled: it drafts tokens."""
    adapter = _default_model().adapter
    if adapter is not None and adapter.is_file():
        return ok("adapter", f"{adapter.name} ({size(adapter.stat().st_size)})")
    return missing("adapter", "not bundled with this installation", "install intarsia again")


def check_grammars() -> Finding:
    """Check that the grammar of every known language can be loaded."""
    broken = []
    for language in LANGUAGES:
        if language.grammar is not None:
            try:
                load_grammar(language.grammar)
            except (ImportError, AttributeError, ValueError) as error:
                broken.append(f"{language.id} ({error})")
    if not broken:
        return ok("languages", f"{len(LANGUAGES)} grammars")
    return missing("languages", f"cannot be loaded: {', '.join(broken)}", "install intarsia again")


def _default_model() -> CatalogModel:
    model = find_model(DEFAULT_MODEL)
    assert model is not None, "the default model is a row of the catalog"
    return model


def _bytes_to_come(model: CatalogModel) -> float:
    """Return the bytes that a download and a conversion will still write."""
    from intarsia.engine.model_store.download import downloaded_file

    is_there = downloaded_file(model).is_file()
    return 0 if is_there else model.num_bytes * (1 + _CONVERSION_FACTOR)
