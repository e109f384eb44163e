"""The one model in memory: loaded when first needed, swapped when another is asked for.

Used on the worker thread; other threads only read its attributes.
"""

import gc
import logging
import time
from collections.abc import Callable
from typing import TypeAlias

from intarsia.engine.config import EngineConfig
from intarsia.engine.filler import Filler
from intarsia.engine.model_name import without_tuning

OnProgress: TypeAlias = Callable[[str, float | None], None]
LoadFiller: TypeAlias = Callable[[EngineConfig, str, OnProgress], Filler]

_log = logging.getLogger(__name__)


class ModelSlot:
    """Holds one Filler, or none; never two."""

    def __init__(
        self, config: EngineConfig, load_filler: LoadFiller, on_progress: OnProgress
    ) -> None:
        self._config = config
        self._load_filler = load_filler
        self._on_progress = on_progress
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
        """Return the filler of this model (None: of the last one). Raises what loading raises."""
        if (filler := self.loaded(model)) is not None:
            return filler
        name = self.name_for(model)
        self._drop()
        self.filler = self._load(name)
        self._loaded = name
        if name != self._config.model:  # … but a tuning is for those alone who name it
            name = without_tuning(name)
        self._usual = name
        return self.filler

    def _drop(self) -> None:
        if self.filler is not None:
            self.filler = None
            gc.unfreeze()
            gc.collect()  # before the next model asks for the same memory

    def _load(self, name: str) -> Filler:
        started = time.monotonic()
        self.is_loading = True
        try:
            filler = self._load_filler(self._config, name, self._on_progress)
        finally:
            self.is_loading = False
        gc.collect()
        gc.freeze()  # looking through torch's objects for garbage would stop a fill for 70 ms
        _log.info("loaded %s in %.1f s", name, time.monotonic() - started)
        return filler
