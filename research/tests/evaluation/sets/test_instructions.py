"""The small instructions: each test tells the edit that is asked for from the text as it was."""

import ast
from collections import Counter

import pytest

from intarsia_research.evaluation.sets.instructions import InstructionCase, instruction_cases

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
