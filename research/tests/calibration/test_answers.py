"""The collected answers: which holes, their file, and where an interrupted collection goes on."""

from itertools import groupby
from pathlib import Path

import pytest

from intarsia_research.calibration.answers import read_answers
from intarsia_research.calibration.cases import all_cases, sample
from intarsia_research.calibration.examples import suggested
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return all_cases()


def test_the_first_holes_are_a_sample_of_both_sets(cases: list[Case]) -> None:
    first = sample(cases)[:70]
    assert {case.set for case in first} == {"builtin", "humaneval-single-line"}
    assert len({case.group for case in first}) >= 20
    assert len({case.language for case in first}) >= 4


def test_the_holes_of_a_file_follow_each_other(cases: list[Case]) -> None:
    groups = [group for group, _ in groupby(sample(cases), key=lambda it: (it.set, it.group))]
    assert len(groups) == len(set(groups))


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"set": "builtin"}\n')
    with pytest.raises(EvaluationFault, match=r"answers\.jsonl"):
        list(read_answers(file))


def test_a_hole_of_another_set_is_told(tmp_path: Path, cases: list[Case]) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"set": "builtin", "case": "no such hole", "filled": null}\n')
    with pytest.raises(EvaluationFault, match="no such hole"):
        list(suggested(read_answers(file), cases))
