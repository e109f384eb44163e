"""The shape of the tree, measured: widths of folders, sizes of functions, words of docstrings."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from checkout import PARTS, ROOT, modules, tracked_files

MAX_FILES = 30
MAX_PARAMETERS, MAX_WIDE_FUNCTIONS = 6, 8
MAX_LINES, MAX_LONG_FUNCTIONS = 40, 8

DIALECT = re.compile(
    r"\b(anew|behind|cannot be had|can be had|lies|nobody|of them|of which|says not|so many"
    r"|so much of|stand in|stands|whoever|whose)\b"
)
"""The project's former dialect. Plain English names the thing, and says after, is, again."""


class Function(NamedTuple):
    where: str
    num_parameters: int  # without self and cls
    num_lines: int


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for part in PARTS:
        for path in modules(part):
            yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def functions() -> Iterator[Function]:
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = node.args
                names = [
                    one.arg
                    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                ]
                num_parameters = len(names) - (names[:1] in (["self"], ["cls"]))
                assert node.end_lineno is not None
                num_lines = node.end_lineno - node.lineno + 1
                yield Function(f"{path}:{node.name}", num_parameters, num_lines)


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield every string that stands alone as a statement: docstrings, and those of names."""
    for path, tree in trees():
        for node in ast.walk(tree):
            match node:
                case ast.Expr(value=ast.Constant(value=str() as text)):
                    yield f"{path}:{node.lineno}", text


def test_the_python_of_the_product_is_in_six_folders() -> None:
    tops = {path.parts[0] for path in tracked_files() if path.suffix == ".py"}
    assert tops - {"docs", "editors", "tests"} == set(PARTS)


def test_no_folder_is_wide() -> None:
    """Files cut from other projects to measure with are data, and not counted."""
    files = [path for path in tracked_files() if "builtin_files" not in path.parts]
    widths = Counter(path.parent for path in files)
    assert {str(folder): n for folder, n in widths.items() if n > MAX_FILES} == {}


def test_few_functions_take_many_parameters() -> None:
    wide = [one for one in functions() if one.num_parameters > MAX_PARAMETERS]
    assert len(wide) <= MAX_WIDE_FUNCTIONS, wide


def test_few_functions_are_long() -> None:
    long = [one for one in functions() if one.num_lines > MAX_LINES]
    assert len(long) <= MAX_LONG_FUNCTIONS, long


def test_docstrings_are_in_plain_english() -> None:
    found = [
        f"{where}: {match.group()}"
        for where, text in docstrings()
        if (match := DIALECT.search(text))
    ]
    assert found == []
