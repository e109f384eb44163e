"""Imports run one way: the rules of ARCHITECTURE.md, read from the sources themselves."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from checkout import PARTS, ROOT, modules

from intarsia.infill.languages import all_languages

# folder → what it may import of ours; a folder's own modules are always allowed
ALLOWED = {
    "infill": {"intarsia.engine.ipc.messages"},  # of it, three folders alone: see below
    "engine": set(),
    "engine/ipc": set(),
    "engine/diffusion": {"intarsia.engine.fill_control"},
    "workspace": {"intarsia.infill"},
    "workspace/files": set(),
    "lsp": {"intarsia.workspace", "intarsia.infill", "intarsia.engine.ipc"},
    "cli": {"intarsia.workspace", "intarsia.infill", "intarsia.engine", "intarsia.lsp"},
}

LIGHT = ("infill", "workspace", "lsp", "engine/ipc")
HEAVY = ("torch", "transformers", "tokenizers", "safetensors", "gguf")


def imports(path: Path) -> Iterator[str]:
    """Yield every imported name, those inside functions and for type checkers too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        yield from imported_by(node)


def imported_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        assert node.level == 0, f"relative import of {node.module}"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_in(*folders: str) -> Iterator[tuple[str, str]]:
    """Yield the modules of folders with each name that they import."""
    for path in (path for folder in folders for path in modules(folder)):
        yield from ((str(path.relative_to(ROOT)), name) for name in imports(path))


def is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def module_file(name: str) -> Path | None:
    """Return the file of an imported name: a module, a package, or what has the name in it."""
    path = ROOT.joinpath(*name.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py", path.parent.with_suffix(".py")):
        if file.is_file():
            return file
    return None


@cache
def import_graph() -> dict[Path, set[Path]]:
    """Return each of our modules with those of ours that it imports."""
    return {
        path: {
            file
            for name in imports(path)
            if is_within(name, "intarsia") and (file := module_file(name)) not in (None, path)
        }
        for part in PARTS
        for path in modules(part)
    }


def cycle(graph: Mapping[Path, set[Path]]) -> list[str]:
    """Return one cycle of the graph, empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(path.relative_to(ROOT)) for path in error.args[1]]
    return []


@pytest.mark.parametrize("folder", ALLOWED)
def test_a_folder_imports_only_from_below(folder: str) -> None:
    allowed = ALLOWED[folder] | {"intarsia." + folder.replace("/", ".")}
    ours = [(at, name) for at, name in imports_in(folder) if name.startswith("intarsia")]
    assert ours
    assert not [(at, name) for at, name in ours if not any(is_within(name, a) for a in allowed)]


def test_no_module_and_no_folder_imports_itself_through_others() -> None:
    """Nested folders, and modules beside folders; imports for type checkers count too."""

    def room(path: Path) -> Path:
        return path.parent if len(path.relative_to(ROOT).parts) > 2 else path

    assert cycle(import_graph()) == []
    rooms: dict[Path, set[Path]] = {}
    for path, imported in import_graph().items():
        rooms.setdefault(room(path), set()).update(room(other) for other in imported)
    assert cycle({at: others - {at} for at, others in rooms.items()}) == []


def test_imports_go_down_the_layers_that_the_architecture_lists() -> None:
    def name(path: Path) -> str:
        return "/".join(path.relative_to(ROOT).with_suffix("").parts[:2])

    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    lists = re.findall(r"^- `(\w+)/`: (.+(?:\n  .+)*)", text, re.MULTILINE)
    layers = [re.sub(r"(\w+)", rf"{part}/\1", it) for part, all_ in lists for it in all_.split("→")]
    layer_of = {at: i for i, layer in enumerate(layers) for at in re.findall(r"[\w/]+", layer)}
    edges = {(name(a), name(b)) for a, all_b in import_graph().items() for b in [a, *all_b]}
    assert {at for at, _ in edges if not re.match("cli/|.*/__", at)} == set(layer_of)
    assert not [(a, b) for a, b in edges if a != b and layer_of.get(a, -1) >= layer_of.get(b, 99)]


def test_nothing_but_the_laboratory_imports_it() -> None:
    """Neither the product nor its tests; what checks the documents knows all commands."""
    laboratory = {path.stem for path in (ROOT / "research/tests/support").glob("*.py")}
    tests = [path for path in modules("tests") if path.parent.name != "checks"]
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in [*tests, *(path for part in PARTS for path in modules(part))]
        for name in imports(path)
        if name.partition(".")[0] in {"intarsia_research", *laboratory}
    ]
    assert not wrong


@pytest.mark.parametrize("folder", LIGHT)
def test_light_folders_never_import_the_model_stack(folder: str) -> None:
    found = imports_in(folder)
    assert not [(at, name) for at, name in found if any(is_within(name, it) for it in HEAVY)]


MOST_LATE_IMPORTS = 15
"""Inside functions, of what takes long to import and is not always needed, as transformers is."""

IMPORT_BY_NAME = {
    "cli/command_table.py",  # a command, and what it runs
    "lsp/method_table.py",  # what answers after `initialized`
    "infill/languages/__init__.py",  # a language
    "infill/syntax/tree.py",  # its grammar
    "engine/kernels/compiled/__init__.py",  # numba, away from the current folder
}
"""Whatever else is loaded late is loaded by one of these."""


def late_imports(path: Path) -> Iterator[int]:
    """Yield the lines of the imports inside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    inside = {
        statement.lineno
        for function in ast.walk(tree)
        if isinstance(function, functions)
        for statement in ast.walk(function)
        if isinstance(statement, ast.Import | ast.ImportFrom)
    }
    yield from sorted(inside)


def imports_at_top(path: Path) -> set[str]:
    """Return the names that a module imports as soon as it is imported itself."""
    late = set(late_imports(path))
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    early = (node for node in nodes if getattr(node, "lineno", 0) not in late)
    return {name for node in early for name in imported_by(node)}


def test_what_a_plain_install_runs_imports_no_torch() -> None:
    """Commands, server and engine, up to what is imported late; export and import need torch."""
    at_top = {path: imports_at_top(path) for path in import_graph()}
    roots = {ROOT / name for name in ("cli", "lsp", "engine/service")}
    found = {path for path in at_top if not roots.isdisjoint(path.parents)}
    new = found = found - {ROOT / "cli/interchange.py"}
    while new:
        files = {module_file(it) for at in new for it in at_top[at] if is_within(it, "intarsia")}
        new = {path for path in files if path is not None} - found
        found = found | new
    assert len(found) > 200
    names = {(path, name.partition(".")[0]) for path in found for name in at_top[path]}
    assert not [(at, name) for at, name in names if name in ("torch", "transformers", "scipy")]


def test_imports_stand_at_the_top_but_for_a_few_heavy_ones() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for part in PARTS
        for path in modules(part)
        for line in late_imports(path)
    ]
    assert len(found) <= MOST_LATE_IMPORTS, found


def test_nothing_else_is_imported_by_name() -> None:
    importing = {
        str(path.relative_to(ROOT))
        for part in PARTS
        for path in modules(part)
        if {"import_module", "__import__"} & set(re.findall(r"\w+", path.read_text("utf-8")))
    }
    assert importing == IMPORT_BY_NAME


def test_infill_does_no_io_and_only_three_folders_ask_the_engine() -> None:
    asking = {ROOT / "infill" / name for name in ("filling", "next_edit", "repair")}
    for path in modules("infill"):
        names = set(imports(path))
        assert not {"os", "io", "socket", "subprocess"} & {n.split(".")[0] for n in names}, path
        if asking.isdisjoint(path.parents):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            assert not [n for n in ast.walk(tree) if isinstance(n, ast.AsyncFunctionDef)], path
            assert not [n for n in names if is_within(n, "intarsia.engine")], path
            assert not [n for n in names if is_within(n, "intarsia.infill.filling")], path


def test_nothing_is_pickled_or_run_from_a_workspace() -> None:
    for folder in PARTS:
        for path in modules(folder):
            text = path.read_text(encoding="utf-8")
            assert "pickle" not in set(imports(path)), path
            assert "torch.load(" not in text and "trust_remote_code=True" not in text, path


OTHER_MEANINGS = {
    "cli/doctor.py": {"python"},  # what is checked, and the interpreter's own package
    "workspace/files/exclusion.py": {"json", "toml", "yaml"},  # endings of files
    "workspace/modules/namespaces.py": {"java", "kotlin"},  # folders of sources
    "workspace/modules/resolve.py": {"python"},  # a folder of sources
}
"""Words that name a language elsewhere, and none in these files; ``rb`` is how a file is opened."""


def test_nothing_but_a_languages_own_file_knows_it() -> None:
    names = {name for one in all_languages() for name in (one.id, *one.aliases)} - {"rb"}
    own = ROOT / "infill" / "languages"
    files = {f"intarsia.infill.languages.{path.stem}" for path in modules("infill/languages")}
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for part in PARTS
        for path in modules(part)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in names and path.parent != own
        if node.value not in OTHER_MEANINGS.get(path.relative_to(ROOT).as_posix(), ())
    ]
    assert {"python", "tsx"} <= names
    assert not wrong
    found = imports_in(*PARTS)
    assert not [(at, name) for at, name in found if any(is_within(name, it) for it in files)]


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
    found = [
        (path, line, flag)
        for folder in PARTS
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


def modules_in_strings() -> list[str]:
    """Return every string of our sources and of pyproject.toml that looks like a module of ours."""
    found = set()
    for part in PARTS:
        for path in modules(part):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    words = node.value.replace(":", " ").replace("`", " ").split()
                    found.update(w.rstrip(".,") for w in words if w.startswith("intarsia."))
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    found.update(script.partition(":")[0] for script in scripts.values())
    return sorted(name for name in found if all(p.isidentifier() for p in name.split(".")))


@pytest.mark.parametrize("name", modules_in_strings())
def test_every_module_that_a_string_names_can_be_imported(name: str) -> None:
    if name.split(".")[1] not in PARTS:
        return  # a setting or a command of the language server: intarsia.edit
    if find_spec(name) is None:  # a name inside a module
        name = name.rpartition(".")[0]
    import_module(name)


def test_every_folder_is_in_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    folders = {
        "intarsia." + ".".join(path.parent.relative_to(ROOT).parts)
        for part in PARTS
        for path in modules(part)
    }
    listed = project["tool"]["setuptools"]["packages"]
    assert len(listed) == len(set(listed))
    assert set(listed) == folders
    assert project["tool"]["setuptools"]["package-dir"] == {f"intarsia.{p}": p for p in PARTS}
