"""Imports run one way: the rules of ARCHITECTURE.md, read from the sources themselves."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# folder → what it may import of ours; a folder's own modules are always allowed
ALLOWED = {
    "infill": set(),
    "engine/ipc": set(),
    "engine/diffusion": {"intarsia.engine.filler", "intarsia.engine.ipc.messages"},
    "engine": set(),
    "filling": {"intarsia.infill", "intarsia.engine.ipc.messages"},
    "lsp": {"intarsia.infill", "intarsia.infill.filling", "intarsia.engine.ipc"},
    "corpus": {"intarsia.infill"},
    "evaluation": {
        "intarsia.infill",
        "intarsia.infill.filling",
        "intarsia.engine.ipc",
        # what is measured in a folder is found as what is learnt there; infill does no I/O
        "intarsia.research.corpus.source_files",
    },
    "cli": {
        "intarsia.infill",
        "intarsia.infill.filling",
        "intarsia.engine",
        "intarsia.lsp",
        "intarsia.research.corpus",
        "intarsia.research.evaluation",
    },
}

HEAVY = ("torch", "transformers", "tokenizers", "safetensors", "gguf")


def modules(folder: str) -> list[Path]:
    found = (ROOT / folder).rglob("*.py")
    return sorted(path for path in found if not {"samples", "builtin_files"} & {*path.parts})


def imports(path: Path, *, top_level_only: bool = False) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            yield node.module


def is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


@pytest.mark.parametrize("folder", ALLOWED)
def test_a_folder_imports_only_what_lies_below_it(folder: str) -> None:
    allowed = ALLOWED[folder] | {"intarsia." + folder.replace("/", ".")}
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules(folder)
        for name in imports(path)
        if is_within(name, "intarsia") and not any(is_within(name, a) for a in allowed)
    ]
    assert modules(folder)
    assert not wrong


@pytest.mark.parametrize("folder", ["infill", "lsp", "research/corpus", "research/holes", "engine/ipc"])
def test_light_folders_never_import_the_model_stack(folder: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules(folder)
        for name in imports(path)
        if any(is_within(name, heavy) for heavy in HEAVY)
    ]
    assert not wrong


def test_infill_does_no_io_and_is_not_async() -> None:
    """``infill/filling`` asks the engine, so it alone is async and knows the messages."""
    for path in modules("infill"):
        if ROOT / "infill" / "filling" in path.parents:
            continue
        assert not [n for n in imports(path) if is_within(n, "intarsia.engine")], path
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not [n for n in ast.walk(tree) if isinstance(n, ast.AsyncFunctionDef)], path
        assert not {"os", "io", "asyncio", "socket", "subprocess"} & set(imports(path)), path


def test_nothing_is_pickled_or_run_from_a_workspace() -> None:
    for folder in ("infill", "lsp", "engine", "research", "cli"):
        for path in modules(folder):
            text = path.read_text(encoding="utf-8")
            assert "pickle" not in set(imports(path)), path
            assert "torch.load(" not in text and "trust_remote_code=True" not in text, path


def starts_of_python(path: Path) -> Iterator[tuple[int, str | None]]:
    """Yield line and first flag of each command that begins with ``sys.executable``."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        words = node.elts if isinstance(node, ast.List | ast.Tuple) else []
        if isinstance(node, ast.Call) and "subprocess" in ast.unparse(node.func):
            words = node.args
        if words and ast.unparse(words[0]) == "sys.executable":
            flag = words[1] if len(words) > 1 else None
            yield node.lineno, str(flag.value) if isinstance(flag, ast.Constant) else None


def test_no_python_that_we_start_imports_from_its_working_folder() -> None:
    """A torch.py in the folder of the user's terminal would be run as torch."""
    folders = ("lsp", "infill", "filling", "engine", "corpus", "evaluation", "cli")
    found = [
        (path, line, flag)
        for folder in folders
        for path in modules(folder)
        for line, flag in starts_of_python(path)
    ]
    assert found
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: give -P or -I first"
        for path, line, flag in found
        if flag not in ("-P", "-I")
    ]
    assert not wrong


def test_the_clients_of_the_engine_load_no_model_stack() -> None:
    code = (
        "import sys, intarsia.lsp.server, intarsia.engine.ipc.client, intarsia.cli.main;"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
