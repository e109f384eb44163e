"""The one model in memory: loaded when first needed, swapped when another is asked for.

A name that leads to no model costs the loaded one nothing, and is not tried again for a while.
Used on the worker thread; other threads only read its attributes.
"""

import gc
import logging
import time
from collections.abc import Callable
from typing import TypeAlias

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import FailureCode
from intarsia.engine.model_store.model_name import without_tuning
from intarsia.engine.service.failures import LoadFailure, describe_failure

LoadFiller: TypeAlias = Callable[[EngineConfig, str, Progress], Filler]
CheckModel: TypeAlias = Callable[[EngineConfig, str, Progress], None]
"""Raises ModelError where a model's files tell, without its weights, that it cannot be loaded."""

FAILURE_KEPT_S = 30.0
"""How long a name that failed is refused unseen: else each key would look for it again."""

_PASSING: tuple[FailureCode, ...] = ("cancelled", "out_of_memory")

_log = logging.getLogger(__name__)


def check_nothing(config: EngineConfig, model: str, on_progress: Progress) -> None:
    """Leave it all to the loading."""


class ModelSlot:
    """Holds one Filler, or none; never two. ``clock``: in seconds, as time.monotonic."""

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
        self._failed: dict[str, tuple[float, LoadFailure]] = {}  # name → when, and of what
        self._loaded = config.model
        self._usual = config.model  # what a request without a model gets: the last that loaded, …
        self.filler: Filler | None = None
        self.is_loading = False

    def name_for(self, model: str | None) -> str:
        return model or self._usual

    def loaded(self, model: str | None) -> Filler | None:
        """Return the filler of this model if it is the one that is loaded."""
        is_it = self.filler and self.name_for(model) in (self._loaded, self.filler.info.name)
        return self.filler if is_it else None

    def take(self, model: str | None) -> Filler:
        """Return the filler of this model (None: of the last one). Raises LoadFailure."""
        if (filler := self.loaded(model)) is not None:
            return filler
        name = self.name_for(model)
        self._refuse_what_failed(name)
        self.filler = self._replace(name)
        self._loaded = name
        if name != self._config.model:  # … but a tuning is for those alone who name it
            name = without_tuning(name)
        self._usual = name
        return self.filler

    def _refuse_what_failed(self, name: str) -> None:
        now = self._clock()
        kept = self._failed.items()
        self._failed = {it: told for it, told in kept if now - told[0] < FAILURE_KEPT_S}
        if name in self._failed:
            _, failure = self._failed[name]
            raise LoadFailure(failure.code, str(failure))

    def _replace(self, name: str) -> Filler:
        """Check the model while the other is still there, then load it in the other's place."""
        self.is_loading = True
        try:
            if self.filler is not None:
                self._check_model(self._config, name, self._on_progress)
                self._drop()
            return self._load(name)
        except BaseException as error:
            raise self._failure(name, error) from error
        finally:
            self.is_loading = False

    def _failure(self, name: str, error: BaseException) -> LoadFailure:
        """Return what to tell of a failed load. What is kept holds no frame, so no weights."""
        code, message = describe_failure(error, doing=f"loading {name}")
        if code not in _PASSING:
            self._failed[name] = (self._clock(), LoadFailure(code, message))
        return LoadFailure(code, message)

    def _drop(self) -> None:
        if self.filler is not None:
            self.filler = None
            gc.unfreeze()
            gc.collect()  # before the next model asks for the same memory

    def _load(self, name: str) -> Filler:
        started = time.monotonic()
        filler = self._load_filler(self._config, name, self._on_progress)
        gc.collect()
        gc.freeze()  # looking through torch's objects for garbage would stop a fill for 70 ms
        _log.info("loaded %s in %.1f s", name, time.monotonic() - started)
        return filler
