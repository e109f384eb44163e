"""Open the store of contexts of a loaded model, in the user's cache folder."""

import logging

from intarsia.engine.cache.folder import contexts_folder
from intarsia.engine.cache.kept_files import KeptFiles, Limits
from intarsia.engine.families.masked_causal.context_store.identity import context_identity
from intarsia.engine.families.masked_causal.context_store.store import ContextStore
from intarsia.engine.model_store.locate import ModelFolder

_MAX_AGE_S = 30 * 24 * 3600.0  # since it was used last

_log = logging.getLogger(__name__)


def open_store(folder: ModelFolder, format_name: str, *, max_bytes: int) -> ContextStore | None:
    """Return the store of this model in this number format.

    None if it may hold nothing, or if the model's files cannot be read again.
    """
    if not max_bytes:
        return None
    try:
        identity = context_identity(folder, format_name)
    except OSError as error:
        _log.warning("contexts are not kept for the next start: %s", error)
        return None
    limits = Limits(max_bytes=max_bytes, max_age_s=_MAX_AGE_S)
    return ContextStore(KeptFiles(contexts_folder(), identity, limits), identity)
