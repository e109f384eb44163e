"""The wheel alone, in an environment of its own, without this checkout: it fills a hole."""

import ast
import os
import shutil
import subprocess
import sys
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest
from checkout import PARTS, ROOT, modules

from intarsia.engine.ipc.address import Address

pytestmark = pytest.mark.slow

SOURCE = 'def add(left, right):\n    """Return the sum of both."""\n    return \n'


def run(*words: object, cwd: Path, env: dict[str, str] | None = None) -> str:
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of the tracked files: a build folder of before adds nothing."""
    copy, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in run("git", "ls-files", "-z", cwd=ROOT).split("\0"):
        if (
            name
            and not name.startswith(("tests/", "docs/", "editors/"))
            and (ROOT / name).is_file()
        ):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    options = ("--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-q", "-w", out)
    run(sys.executable, "-m", "pip", "wheel", *options, copy, cwd=copy)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of a new environment with the wheel and what it depends on.

    The dependencies are this environment's. A .pth file adds their folder, and no .pth file in that
    folder is read, so this checkout cannot be imported.
    """
    folder = tmp_path_factory.mktemp("clean") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    dependencies = [path for path in sys.path if path.endswith("site-packages")]
    Path(site.strip(), "dependencies.pth").write_text("\n".join(dependencies))
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    run(*pip, "install", "-q", "--no-deps", "--no-index", wheel, cwd=folder)
    return python


def test_the_wheel_asks_for_torch_only_as_an_extra(wheel: Path) -> None:
    with ZipFile(wheel) as packed:
        name = next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        needed = message_from_string(packed.read(name).decode()).get_all("Requires-Dist", [])
    assert [it for it in needed if it.startswith("numpy")]
    heavy = [it for it in needed if it.startswith(("torch", "transformers", "scipy"))]
    assert len(heavy) == 2
    assert all(it.endswith('; extra == "torch"') for it in heavy)


def test_every_module_of_the_wheel_can_be_found(python: Path) -> None:
    script = (
        "import intarsia, pkgutil, sys\n"
        "found = [m.name for m in pkgutil.walk_packages(intarsia.__path__, 'intarsia.')]\n"
        "assert all(p.startswith(sys.prefix) for p in intarsia.__path__), intarsia.__path__\n"
        "print('\\n'.join(found))"
    )
    found = run(python, "-P", "-c", script, cwd=python.parent).split()
    expected = {
        "intarsia." + ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for part in PARTS
        for path in modules(part)
    }
    assert set(found) == {name.removesuffix(".__init__") for name in expected}


@pytest.mark.model
def test_the_installed_wheel_fills_a_hole(python: Path, runtime: Address, tmp_path: Path) -> None:
    source = tmp_path / "add.py"
    source.write_text(SOURCE)
    env = os.environ | runtime.as_environment()
    env.pop("PYTHONPATH", None)
    program = python.with_name("intarsia")
    run(program, "fill", source, "--at", "3:12", "--write", cwd=tmp_path, env=env)
    filled = source.read_text()
    ast.parse(filled)
    assert filled.startswith(SOURCE.rstrip()), "nothing outside the hole was changed"
    assert {"left", "right"} <= set(filled.removeprefix(SOURCE.rstrip()).split())
