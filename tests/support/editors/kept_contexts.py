"""A cache folder of a test's own, to see what an engine keeps on disk of what it has read."""

from pathlib import Path

from intarsia.engine.cache.folder import cache_folder

KEPT_AFTER_S = 8
"""The engine writes what it keeps after three seconds without a request."""


def private_cache(folder: Path) -> Path:
    """Make the cache folder (INTARSIA_CACHE_DIR) with the user's models; return it."""
    folder.mkdir(mode=0o700)
    for name in ("models", "converted", "kernels"):
        (folder / name).symlink_to(cache_folder() / name)
    return folder


def num_kept(cache: Path) -> int:
    """Return how many files of contexts are in the cache folder."""
    return sum(path.is_file() for path in (cache / "contexts").rglob("*"))
