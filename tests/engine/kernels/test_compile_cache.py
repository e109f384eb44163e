"""Compiled kernels are kept and loaded only as this user's own; damage costs one compilation."""

import lzma
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from llvmlite import binding

from intarsia.engine.cache.own_file import SealedFiles, open_seals
from intarsia.engine.kernels import compile_cache, prebuilt
from intarsia.engine.kernels.compile_cache import first_run, has_crashed, open_files
from intarsia.engine.kernels.compiled.__main__ import code_for
from intarsia.engine.kernels.prebuilt import (
    FOLDER,
    PROCESSORS,
    Prebuilt,
    machine,
    path_of,
    prebuilt_codes,
    source_digest,
)
from intarsia.engine.kernels.processor import dot_product

_QUANTIZE = """
import sys
from pathlib import Path
import numpy as np
from intarsia.engine.kernels import compile_cache
from intarsia.engine.kernels.compile_cache import keep_compiled, run_compiled
from intarsia.engine.kernels.int8_support import quantize_matrix

runs, usual = [], compile_cache.compile_kernel
compile_cache.compile_kernel = lambda *about: runs.append(about) or usual(*about)
compile_cache._AT_ONCE = (("quantize_columns",),)
if sys.argv[2] == "own":
    compile_cache.prebuilt_codes = lambda: {}
elif sys.argv[2] == "dying":
    compile_cache.prebuilt_codes = lambda: {"quantize_columns": bytes.fromhex(sys.argv[3])}
keep_compiled(Path(sys.argv[1]))
matrix = run_compiled(lambda: quantize_matrix(np.ones((8, 8), np.float32)))
assert (matrix.panels != 0).sum() == 64
print(len(runs), "numba" in sys.modules)
"""
"""Runs the smallest kernel; prints how often one was compiled, and whether by this process."""


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path / "data"))


def quantize(folder: Path, *code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-c", _QUANTIZE, str(folder), *(code or ("own",))]
    return subprocess.run(command, capture_output=True, text=True)


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
    after = quantize(folder, "prebuilt")
    assert (after.returncode, after.stdout) == (0, "1 False\n")  # not what came with us, either
    assert "a process died of the compiled kernels" in after.stderr
    assert list(file.parent.glob("first-run-*")) == []


@pytest.mark.skipif(not prebuilt_codes(), reason="no code comes with us for this processor")
def test_what_comes_with_us_is_not_compiled_and_not_used_again_after_a_crash(tmp_path):
    folder = tmp_path / "kernels"
    assert quantize(folder, "prebuilt").stdout == "0 False\n"
    assert list(folder.rglob("*.kernel")) == []
    assert quantize(folder, "dying", dying().hex()).returncode == 139
    after = quantize(folder, "dying", dying().hex())
    assert (after.returncode, after.stdout) == (0, "1 False\n")
    assert quantize(folder, "dying", dying().hex()).stdout == "0 False\n"  # its own is kept


@pytest.mark.skipif(not prebuilt_codes(), reason="no code comes with us for this processor")
@pytest.mark.parametrize("content", [b"", b"\xfd7zXZ", lzma.compress(b"\x93"), None])
def test_what_came_damaged_or_of_other_source_is_compiled(tmp_path, monkeypatch, content):
    whole = path_of(dot_product().name).read_bytes()
    monkeypatch.setattr(prebuilt, "FOLDER", tmp_path)
    if content is None:
        monkeypatch.setattr(prebuilt, "source_digest", lambda: "another")
        content = whole
    path_of(dot_product().name).write_bytes(content)
    assert prebuilt_codes.__wrapped__() == {}


def read_prebuilt(path: Path) -> Prebuilt:
    return msgspec.msgpack.decode(lzma.decompress(path.read_bytes()), type=Prebuilt)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.xz")), ids=lambda path: path.stem)
def test_what_comes_with_us_is_of_this_source(path: Path):
    """Once that changes, ``make kernels`` writes it again."""
    made = read_prebuilt(path)
    assert (made.source, tuple(made.codes)) == (source_digest(), compile_cache.KERNELS)


@pytest.mark.slow
@pytest.mark.parametrize("product", PROCESSORS.get(machine(), ()))
@pytest.mark.skipif(not prebuilt_codes(), reason="no code comes with us for this system")
def test_what_comes_with_us_is_what_the_source_compiles_to(product: str):
    codes = read_prebuilt(path_of(product)).codes
    assert codes == {name: code_for(name, product) for name in codes}


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
