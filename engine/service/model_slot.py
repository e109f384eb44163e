"""The one model in memory: loaded when first needed, replaced when a request names another.

Remote engines take no memory: they are kept beside it, and never become another client's default.
A name that cannot be loaded leaves the loaded model in place and is not tried again for a while.
Used on the worker thread; other threads only read the attributes.
"""

import gc
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import NoRoomError
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import FailureCode
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, shown, without_tuning
from intarsia.engine.remote.http.remotes import remote_name
from intarsia.engine.service.failures import LoadFailure, describe_failure

LoadFiller: TypeAlias = Callable[[EngineConfig, str, Progress], Filler]
CheckModel: TypeAlias = Callable[[EngineConfig, str, Progress], None]
"""Raises ModelError if a model's files show, without its weights, that it cannot be loaded."""

FAILURE_KEPT_S = 30.0
"""How long a failed name is refused without a look: else each keystroke would search for it."""

REMOTE_FAILURE_KEPT_S = 3.0
"""The same for a server: it may be up again soon."""

_TEMPORARY: tuple[FailureCode, ...] = ("cancelled", "out_of_memory")
"""Failures that may be over at the next try, so they are not remembered."""

_log = logging.getLogger(__name__)


def check_nothing(config: EngineConfig, model: str, on_progress: Progress) -> None:
    """Check nothing: a wrong model is found when it is loaded."""


class ModelSlot:
    """Holds one loaded model or none, never two, and any number of remote engines.

    ``filler`` is the one that answered last. ``clock`` returns seconds, as time.monotonic does.
    """

    def __init__(
        self,
        config: EngineConfig,
        load_filler: LoadFiller,
        on_progress: Progress,
        *,
        check_model: CheckModel = check_nothing,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._load_filler = load_filler
        self._check_model = check_model
        self._on_progress = on_progress
        self._clock = clock
        self._failed: dict[str, tuple[float, LoadFailure]] = {}  # name → time and failure
        self._loaded_name = config.model
        self._loaded: Filler | None = None
        self._remotes: dict[str, Filler] = {}  # by model name
        self._default_name = config.model  # what a request that names no model gets
        self.filler: Filler | None = None
        self.is_loading = False

    def name_for(self, model: str | None) -> str:
        """Return the model's name; None is the last model that was loaded."""
        return model or self._default_name

    def loaded(self, model: str | None) -> Filler | None:
        """Return the filler of this model, None if it is not the loaded one."""
        name = self.name_for(model)
        if remote_name(name) is not None:
            return self._remotes.get(name)
        if self._loaded is None:
            return None
        is_loaded = name in (self._loaded_name, self._loaded.info.name)
        return self._loaded if is_loaded else None

    def take(self, model: str | None) -> Filler:
        """Return the filler of this model, loaded if need be. Raises LoadFailure."""
        if (filler := self.loaded(model)) is not None:
            self.filler = filler
            return filler
        name = self.name_for(model)
        self._refuse_recent_failure(name)
        if remote_name(name) is not None:
            with self._loading(name):  # beside the loaded model
                filler = self._load_filler(self._config, name, self._on_progress)
            _log.info("opened %s", filler.info.name)
            self.filler = self._remotes[name] = filler
            return filler
        self.filler = self._loaded = self._replace(name)
        self._loaded_name = name
        # A user's own tuning is only for requests that name it, unless it was configured.
        self._default_name = name if name == self._config.model else without_tuning(name)
        return self.filler

    def take_local(self) -> Filler:
        """Return the loaded model, else the default one of this machine. Raises LoadFailure."""
        if self._loaded is not None:
            self.filler = self._loaded
            return self._loaded
        default = self._config.model
        return self.take(DEFAULT_MODEL if remote_name(default) is not None else default)

    def _refuse_recent_failure(self, name: str) -> None:
        now = self._clock()
        self._failed = {
            failed_name: (failed_at, failure)
            for failed_name, (failed_at, failure) in self._failed.items()
            if now - failed_at < _kept_s(failed_name)
        }
        if name in self._failed:
            _, failure = self._failed[name]
            raise LoadFailure(failure.code, str(failure))

    def _replace(self, name: str) -> Filler:
        """Check the new model while the other is still in memory, then drop that and load."""
        with self._loading(name):
            if self._loaded is not None:
                self._check_model(self._config, name, self._on_progress)
                self.filler = self._loaded = None
                gc.unfreeze()
                gc.collect()  # before the next model asks for the same memory
            return self._load(name)

    @contextmanager
    def _loading(self, name: str) -> Iterator[None]:
        """Show that a load runs, and raise LoadFailure where it fails."""
        self.is_loading = True
        try:
            yield
        except BaseException as error:
            raise self._failure(name, error) from error
        finally:
            self.is_loading = False

    def _failure(self, name: str, error: BaseException) -> LoadFailure:
        """Return the failure of a load; remember it without its traceback, which holds weights."""
        code, message = describe_failure(error, doing=f"loading {shown(name)}")
        if code not in _TEMPORARY and not isinstance(error, NoRoomError):
            self._failed[name] = (self._clock(), LoadFailure(code, message))
        return LoadFailure(code, message)

    def _load(self, name: str) -> Filler:
        started = time.monotonic()
        filler = self._load_filler(self._config, name, self._on_progress)
        gc.collect()
        gc.freeze()  # looking through torch's objects for garbage would stop a fill for 70 ms
        _log.info("loaded %s in %.1f s", name, time.monotonic() - started)
        return filler


def _kept_s(name: str) -> float:
    """Return how long a failed name is refused without a look."""
    return FAILURE_KEPT_S if remote_name(name) is None else REMOTE_FAILURE_KEPT_S
