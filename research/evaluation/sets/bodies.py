"""Bodies of documented functions as the cursor is below the documentation: tests judge them.

They are HumanEval's, or those of any Python files whose docstrings have examples (doctests). A file
is run alone, with its doctest behind it. So files that import what is not in the standard library
are left out, except where they try to.
"""

import ast
import random
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from intarsia.infill.syntax.text import leading_blank
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.sets.problem_file import read_problems
from intarsia_research.evaluation.sets.source_files import find_source_files, read_source_file

_ENTRY_POINT = re.compile(r"check\((\w+)\)\s*\Z")


def body_cases(humaneval: Path) -> list[Case]:
    """Return a case for each problem of a file of single lines: its body, as the cursor is there.

    The function of another problem follows it. Raise EvaluationFault where the file has none.
    """
    lines = read_problems(humaneval, limit=None, seed=0)
    first = {case.group: case for case in sorted(lines, key=lambda it: -len(it.prefix))}
    firsts = [first[group] for group in sorted(first)]
    return [
        replace(
            case,
            id=f"{case.group}/body",
            set="humaneval-body",
            kind="block",
            prefix=case.prefix + (blank := leading_blank(case.truth)),
            truth=(case.truth + case.suffix).removeprefix(blank).rstrip(),
            suffix=f"\n\n\n{_function(other)}\n",
        )
        for case, other in zip(firsts, [*firsts[1:], *firsts[:1]], strict=True)
    ]


def _function(case: Case) -> str:
    """Return a problem's function, and what follows it."""
    text, entry = case.filled(case.truth), _ENTRY_POINT.search(case.test or "")
    if entry is None:
        raise EvaluationFault(f"{case.id} does not tell which function it tests")
    return text[text.index(f"def {entry[1]}(") :].rstrip()


_MIN_LINES, _MAX_LINES = 2, 25

_RUN = """
import doctest as _doctest

_it = globals()[{names}[0]]
for _name in {names}[1:]:
    _it = _it.__dict__[_name]
_it = getattr(_it, "__func__", getattr(_it, "fget", _it))
_examples = _doctest.DocTestParser().get_doctest(_it.__doc__, dict(globals()), "it", None, 0)
_runner = _doctest.DocTestRunner(
    verbose=False, optionflags=_doctest.ELLIPSIS | _doctest.NORMALIZE_WHITESPACE
)
_told = _runner.run(_examples, out=lambda text: None)
assert _told.attempted and not _told.failed
"""


def doctest_cases(paths: Sequence[Path], *, limit: int | None, seed: int) -> list[Case]:
    """Return a case for each body of 2 to 25 lines whose docstring has examples, shuffled.

    Raise EvaluationFault if a path does not exist, or no file has one.
    """
    cases: list[Case] = []
    for file in find_source_files(paths):
        text = (read_source_file(file) if file.language.id == "python" else None) or ""
        with suppress(SyntaxError, ValueError):
            tree = ast.parse(text)
            lines = text.splitlines(keepends=True) if _runs_alone(tree) else []
            cases += (_case(file.name, lines, *found) for found in _documented(tree, ()) if lines)
    cases = [case for case in cases if _MIN_LINES <= _num_lines(case.truth) <= _MAX_LINES]
    if not cases:
        raise EvaluationFault("no Python function with examples in its docstring in these files")
    random.Random(seed).shuffle(cases)
    return cases[:limit]


def _runs_alone(tree: ast.Module) -> bool:
    """Whether all imports outside functions and ``try`` are of the standard library."""
    imports = [it for it in tree.body if isinstance(it, ast.Import)]
    froms = [it for it in tree.body if isinstance(it, ast.ImportFrom)]
    names = [alias.name for it in imports for alias in it.names]
    names += ["." * it.level + (it.module or "") for it in froms]
    return all(name.partition(".")[0] in sys.stdlib_module_names for name in names)


def _documented(
    node: ast.Module | ast.ClassDef, names: tuple[str, ...]
) -> Iterator[tuple[ast.FunctionDef, tuple[str, ...]]]:
    """Yield the functions and methods with examples, and their names from the top."""
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            yield from _documented(child, (*names, child.name))
        elif isinstance(child, ast.FunctionDef) and ">>>" in (ast.get_docstring(child) or ""):
            yield child, (*names, child.name)


def _case(
    path: str, lines: Sequence[str], function: ast.FunctionDef, names: tuple[str, ...]
) -> Case:
    start, end = function.body[0].end_lineno, function.end_lineno
    body = "".join(lines[start:end])
    blank = " " * function.body[0].col_offset
    return Case(
        id=f"{path}:{'.'.join(names)}",
        set="doctests",
        kind="block",
        language="python",
        path=path,
        group=path,
        prefix="".join(lines[:start]) + blank,
        truth=body.strip(),
        suffix="\n" + "".join(lines[end:]),
        test=_RUN.format(names=repr(names)),
    )


def _num_lines(body: str) -> int:
    return sum(not line.lstrip().startswith(("#", "\n")) for line in body.splitlines(keepends=True))
