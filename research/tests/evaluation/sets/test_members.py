"""The set of holes after a receiver of a class from another file, made from tiny packages."""

import ast
from collections import Counter
from pathlib import Path

import pytest
from project_archives import Archives
from small_packages import tar_bytes

from intarsia_research.evaluation.sets.instructions import InstructionCase, instruction_cases
from intarsia_research.evaluation.sets.member_holes import is_member_of_another_file
from intarsia_research.evaluation.sets.package_cases import MEMBERS
from intarsia_research.holes.package_index import indexed_package

SESSION = """class Base:
    def close_all(self) -> None:
        self.is_open = False


class Session(Base):
    timeout_s: float = 30.0

    def renew(self, by_s: float) -> float:
        return by_s
"""
USES = """from .session import Session


def use(session: Session) -> None:
    session.renew(1.0)
    x = session.timeout_s
    session.close_all()
    session.missing()
"""
OTHERS = """import os

from .session import Session


class Local:
    def renew(self) -> None:
        pass


def use(local: Local, unknown) -> None:
    local.renew()
    unknown.renew()
    os.path.renew("x")
    text = "session.renew(2)"
"""
PYTHON = {
    "small-1.0/small/__init__.py": "",
    "small-1.0/small/session.py": SESSION,
    "small-1.0/small/uses.py": USES,
    "small-1.0/small/others.py": OTHERS,
    "small-1.0/tests/test_uses.py": USES.replace(".session", "small.session"),
}
TYPESCRIPT = {
    "package/src/cart.ts": "export class Cart {\n  total(): number { return 1; }\n}\n",
    "package/src/view.ts": "import { Cart } from './cart.js';\n\n"
    "export function area(cart: Cart) {\n  const sum = cart.total();\n  return sum;\n}\n",
}


@pytest.fixture
def archives(tmp_path: Path) -> Archives:
    archives = Archives(tmp_path, MEMBERS)
    archives.add("small", "python", tar_bytes(PYTHON))
    archives.add("@scope/view", "typescript", tar_bytes(TYPESCRIPT), folders='["src"]')
    return archives


def test_holes_begin_after_a_receiver_whose_class_is_in_another_file(archives: Archives) -> None:
    cases = archives.cases()
    drawn = [f"{it.prefix.rpartition(chr(10))[2].strip()}|{it.truth}" for it in cases]
    assert sorted(drawn) == [
        "const sum = cart.|total();",
        "session.|close_all()",
        "session.|renew(1.0)",
        "x = session.|timeout_s",
    ]
    for case in cases:
        assert case.set == "members" and case.kind == "rest_of_line"
        assert case.name and case.truth.startswith(case.name)
        assert case.root is not None
        assert case.filled(case.truth) == (case.root / case.path).read_text()


def test_the_rule_reads_the_file_with_the_hole_cut_out(archives: Archives) -> None:
    case = next(case for case in archives.cases() if case.name == "renew")
    assert case.root is not None
    with indexed_package(case.root) as index:
        assert is_member_of_another_file(case, index)
    (case.root / "small" / "session.py").write_text("class Session:\n    pass\n")
    with indexed_package(case.root) as index:
        assert not is_member_of_another_file(case, index)


CASES = instruction_cases()


def passes(case: InstructionCase, edited: str) -> bool:
    try:
        exec(compile(case.program(edited), case.name, "exec"), {"__name__": "program"})
    except Exception:  # noqa: BLE001 - a wrong program may fail in any way
        return False
    return True


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_only_the_right_edit_passes(case: InstructionCase, capsys: pytest.CaptureFixture) -> None:
    start, end = case.selection.start, case.selection.end
    ast.parse(case.text)
    assert not passes(case, case.text)
    assert passes(case, case.text[:start] + case.answer + case.text[end:])


def test_half_of_them_are_held_out() -> None:
    assert Counter(case.split for case in CASES) == {"dev": 20, "held_out": 20}
    texts = {case.instruction for case in CASES} | {case.text for case in CASES}
    assert len(texts) == 80, "no two are alike"
    assert instruction_cases("dev") == [case for case in CASES if case.split == "dev"]
