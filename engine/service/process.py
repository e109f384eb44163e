"""Run the engine as a process: one per address, with a log, signals and exit codes."""

import asyncio
import faulthandler
import gc
import logging
import os
import signal
import stat
import sys
from typing import TextIO

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.address import Address, resolve_address
from intarsia.engine.ipc.errors import EngineUnavailable
from intarsia.engine.ipc.handshake import build_id
from intarsia.engine.ipc.launch import ALREADY_RUNNING_EXIT_CODE
from intarsia.engine.ipc.printable import printable
from intarsia.engine.remote.http.remotes import remote_name
from intarsia.engine.service.endpoint import (
    AddressInUse,
    AlreadyRunning,
    hold_address,
    is_ours,
)
from intarsia.engine.service.model_slot import CheckModel, LoadFiller
from intarsia.engine.service.service import Service

_log = logging.getLogger(__name__)


def spin_briefly() -> None:
    """Let OpenMP threads that wait for each other spin for a short time, then sleep.

    A forward pass is some hundred small parallel pieces. If threads always sleep in between, it
    takes 1.6 times as long on an idle machine. If they spin without end, they take cores from other
    programs, and it took ten times as long on a busy machine (both measured on two cores).
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "5000")


def keep_few_kernels() -> None:
    """Let oneDNN keep 192 compiled kernels instead of a thousand.

    It compiles some for every number of rows, and contexts have any length: sixty short ones made
    an engine grow by a third of a GB. 192 hold the few that every hole needs.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "192")


def load_default_filler(config: EngineConfig, model: str, on_progress: Progress) -> Filler:
    """Load a real model, which imports torch, or open a remote engine. On the worker thread."""
    if (name := remote_name(model)) is not None:
        from intarsia.engine.remote.filler import load_remote

        return load_remote(config, name, on_progress)
    gc.disable()  # modules and vocabularies are a million objects, none of them garbage
    try:
        from intarsia.engine.service.load_filler import load_filler

        return load_filler(config, model, on_progress)
    finally:
        gc.enable()


def check_default_model(config: EngineConfig, model: str, on_progress: Progress) -> None:
    """Check a real model. Imports torch, so only the worker thread calls it."""
    from intarsia.engine.service.load_filler import check_model

    check_model(config, model, on_progress)


def run_engine(
    config: EngineConfig,
    *,
    foreground: bool,
    load_filler: LoadFiller = load_default_filler,
    check_model: CheckModel = check_default_model,
) -> int:
    """Run an engine in this process until it is stopped or idle; return the exit code.

    0: it ended in good order. 1: it could not start; the reason is in the log. 3: another engine
    runs at the address.
    """
    set_up_logging(foreground=foreground)
    spin_briefly()
    keep_few_kernels()
    faulthandler.enable()  # a crash in native code logs where it was
    build_id()  # kept: an upgrade changes the files under a running engine
    try:
        address = resolve_address()
        with hold_address(address):
            asyncio.run(_serve(config, load_filler, check_model, address))
    except AlreadyRunning as error:
        _log.warning("%s", error)
        return ALREADY_RUNNING_EXIT_CODE
    except (AddressInUse, EngineUnavailable, OSError) as error:
        _log.error("%s", error)
        return 1
    return 0


async def _serve(
    config: EngineConfig, load_filler: LoadFiller, check_model: CheckModel, address: Address
) -> None:
    service = Service(config, load_filler, address, check_model=check_model)
    _stop_on_signals(service)
    _log.info("process %d serves %s at %s", os.getpid(), config.model, address.directory)
    has_ended = await service.run()
    _log.info("ended")
    if not has_ended:
        # A load cannot be interrupted, and torch's threads must not run while Python shuts down.
        if is_ours(address):
            address.pid_path.unlink(missing_ok=True)
        sys.stderr.flush()
        os._exit(0)


def _stop_on_signals(service: Service) -> None:
    loop = asyncio.get_running_loop()

    def stop(*_: object) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(service.request_stop)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


MAX_LOG_BYTES = 4 * 1024 * 1024
"""A log file that grows beyond this is emptied."""

_TERMINAL_FORMAT = "%(message)s"
_FILE_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class PrintableFormatter(logging.Formatter):
    """Shows what names and messages of others hold, instead of having a terminal obey it."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


class BoundedHandler(logging.StreamHandler[TextIO]):
    """Writes to stderr; keeps a file there from filling the disk."""

    def emit(self, record: logging.LogRecord) -> None:
        _truncate_if_long(self.stream)
        super().emit(record)


def set_up_logging(*, foreground: bool) -> None:
    """Send this process's log records to stderr; ``foreground`` writes them for a terminal."""
    handler = BoundedHandler(sys.stderr)
    handler.setFormatter(PrintableFormatter(_TERMINAL_FORMAT if foreground else _FILE_FORMAT))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)


def _truncate_if_long(stream: TextIO) -> None:
    try:
        status = os.fstat(stream.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size > MAX_LOG_BYTES:
            os.ftruncate(stream.fileno(), 0)
    except (OSError, ValueError):
        pass  # a stream without a file
