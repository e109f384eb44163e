"""A few bytes in wheels, as a catalog row knows them: one data file each, pinned by its digest."""

import hashlib
import zipfile
from pathlib import Path

from intarsia.engine.model_store.catalog import CatalogModel, HubFile, WheelParts

CONTENT = bytes(range(256)) * 12
PROJECT = "intarsia-toy-part{n}"


def write_wheels(folder: Path, content: bytes = CONTENT) -> WheelParts:
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(content) // 3)
    parts = [content[start : start + size] for start in range(0, len(content), size)]
    wheels = [_write_wheel(folder, n, part) for n, part in enumerate(parts, start=1)]
    return WheelParts(
        project=PROJECT,
        version="0.1.0",
        member="intarsia_toy_part{n}/data/part{n:02}.bin",
        sha256=tuple(hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels),
    )


def toy_row(wheels: WheelParts | None, content: bytes = CONTENT) -> CatalogModel:
    return CatalogModel(
        name="toy",
        licence="Apache-2.0",
        file_name="toy.gguf",
        num_bytes=len(content),
        memory_bytes=1_000_000,
        quality="none",
        sha256=hashlib.sha256(content).hexdigest(),
        hub=HubFile(repo="owner/toy", revision="0" * 40, file="toy.gguf"),
        wheels=wheels,
        drafter_file=None,
        tuning_file=None,
    )


def _write_wheel(folder: Path, n: int, part: bytes) -> Path:
    package = f"intarsia_toy_part{n}"
    info = f"{package}-0.1.0.dist-info"
    wheel = folder / f"{package}-0.1.0-py3-none-any.whl"
    files = {
        f"{package}/__init__.py": b"raise SystemExit('a wheel of parts must never be imported')\n",
        f"{package}/data/part{n:02}.bin": part,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return wheel
