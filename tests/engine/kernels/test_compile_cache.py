"""Compiled kernels are kept and loaded only as this user's own; damage costs one compilation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite import binding

from intarsia.engine.cache.own_file import SealedFiles, open_seals
from intarsia.engine.kernels import compile_cache
from intarsia.engine.kernels.compile_cache import first_run, has_crashed, open_files

_QUANTIZE = """
import sys
from pathlib import Path
import numpy as np
from intarsia.engine.kernels import compile_cache
from intarsia.engine.kernels.compile_cache import keep_compiled, run_compiled
from intarsia.engine.kernels.int8_support import quantize_matrix

runs, usual = [], compile_cache._compile
compile_cache._compile = lambda name: runs.append(name) or usual(name)
compile_cache._AT_ONCE = (("quantize_columns",),)
keep_compiled(Path(sys.argv[1]))
matrix = run_compiled(lambda: quantize_matrix(np.ones((8, 8), np.float32)))
assert (matrix.panels != 0).sum() == 64
print(len(runs), "numba" in sys.modules)
"""
"""Runs the smallest kernel; prints how often one was compiled, and whether by this process."""


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path / "data"))


def quantize(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", _QUANTIZE, str(folder)], capture_output=True, text=True
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_folder_of_no_use_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    folder.chmod(0o777)
    for path in (folder, folder / "digest"):
        with pytest.raises(PermissionError, match="other users: run chmod"):
            open_files(path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        open_files(tmp_path / "file" / "digest")


def test_kernels_are_loaded_damaged_and_made_again(tmp_path: Path) -> None:
    """One test, as each compilation takes seconds."""
    folder = tmp_path / "kernels"
    assert quantize(folder).stdout == "1 False\n"
    assert quantize(folder).stdout == "0 False\n"
    (file,) = folder.rglob("*.kernel")
    if os.name != "nt":
        assert folder.stat().st_mode & 0o777 == 0o700
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] + bytes(len(whole) // 2))
    again = quantize(folder)
    assert (again.returncode, again.stdout) == (0, "1 False\n")
    assert "is damaged, or was not written here" in again.stderr

    # It is what we wrote, and yet the process dies of it.
    seals = open_seals()
    assert seals is not None
    SealedFiles(file.parent, seals, suffix=".kernel").write(file.stem, dying())
    assert quantize(folder).returncode == 139
    after = quantize(folder)
    assert (after.returncode, after.stdout) == (0, "1 False\n")
    assert "a process died of the compiled kernels" in after.stderr
    assert list(file.parent.glob("first-run-*")) == []


def dying() -> bytes:
    """Return code that ends the process that calls it."""
    machine = binding.Target.from_default_triple().create_target_machine()
    calls = "define i32 @die() {\n call void @_exit(i32 139)\n ret i32 0\n}"
    module = binding.parse_assembly(f"declare void @_exit(i32)\n{calls}")
    return b"die\n" + machine.emit_object(module)


def test_a_compiler_that_fails_says_why(tmp_path: Path, monkeypatch) -> None:
    """And what cannot be kept is compiled all the same: the folder is not there."""
    monkeypatch.setattr(compile_cache, "_AT_ONCE", (("quantize_columns", "no_kernel"),))
    monkeypatch.setattr(compile_cache, "_codes", {})
    seals = open_seals()
    assert seals is not None
    kept = SealedFiles(tmp_path / "read-only", seals, suffix=".kernel")
    monkeypatch.setattr(compile_cache, "_kept", kept)
    assert b"quantize_columns" in compile_cache.code_of("quantize_columns")
    with pytest.raises(RuntimeError, match=r"the compiler ended with 1: .*no_kernel"):
        compile_cache.code_of("no_kernel")


def test_a_crash_is_noticed_once_and_a_living_process_is_none(tmp_path: Path) -> None:
    with first_run(tmp_path):
        assert not has_crashed(tmp_path)
    assert not has_crashed(tmp_path)
    with pytest.raises(ValueError, match="a fault"), first_run(tmp_path):
        raise ValueError("a fault of the work is no crash")
    assert not has_crashed(tmp_path)
    program = """
import os, sys
from pathlib import Path
from intarsia.engine.kernels.compile_cache import first_run
with first_run(Path(sys.argv[1])):
    os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-P", "-c", program, str(tmp_path)])
    assert has_crashed(tmp_path)
    assert not has_crashed(tmp_path)


@pytest.mark.parametrize("content", ["disable_jit: 1\n", "{bad", "cache_dir: /tmp/planted\n"])
def test_no_file_of_the_current_folder_configures_the_compiler(tmp_path, content):
    (tmp_path / ".numba_config.yaml").write_text(content)
    program = """
import intarsia.engine.kernels.compiled
from numba.core import config
config.reload_config()
print(config.DISABLE_JIT, repr(config.CACHE_DIR))
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "0 ''\n"), done.stderr
