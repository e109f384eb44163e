"""Open the remote engine of a model name ``remote:NAME``. Runs on the engine's worker thread."""

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.remote.filler import RemoteFiller
from intarsia.engine.remote.settings.remotes import find_remote


def load_remote(config: EngineConfig, name: str, on_progress: Progress) -> RemoteFiller:
    """Return the filler of the user's remote ``name``. Raises ModelError.

    A server that does not answer now is no error where the user wants the local model instead.
    """
    remote = find_remote(name)
    on_progress(f"asking {remote.address.shown}", None)
    filler = RemoteFiller(remote, max_context_tokens=config.max_context_tokens)
    try:
        filler.open()
    except ModelError:
        if not remote.fallback:
            raise
    return filler
