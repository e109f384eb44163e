"""The build id of this installation, compared when client and engine are of different builds."""

import functools
import hashlib
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@functools.cache
def build_id() -> str:
    """Return the build that this process runs, if it is called first soon after the start."""
    return build_on_disk()


def build_on_disk() -> str:
    """Return the package's version and a digest of the engine's sources, as ``0.1.0+1a2b3c4d``."""
    return f"{_package_version()}+{_source_digest()[:8]}"


def is_newer(build: str, *, than: str) -> bool:
    """Tell whether a build is of a later version. The digests have no order."""
    return _release(build) > _release(than)


def _release(build: str) -> tuple[int, ...]:
    version_text, _, _ = build.partition("+")
    return tuple(int(number) for number in re.findall(r"\d{1,9}", version_text)[:3])


def _package_version() -> str:
    try:
        return version("intarsia")
    except PackageNotFoundError:
        return "0"  # a source tree that was never installed


def _source_digest() -> str:
    digest = hashlib.sha256()
    engine = Path(__file__).parent.parent
    for source in sorted(engine.rglob("*.py")):
        digest.update(source.relative_to(engine).as_posix().encode() + b"\0")
        digest.update(source.read_bytes() + b"\0")
    return digest.hexdigest()
