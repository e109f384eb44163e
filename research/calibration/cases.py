"""The holes that a calibration is fitted on: built-in ones, and single lines of HumanEval.

They are in random order by file and problem, so that the first ones are a sample of all.
"""

import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, zip_longest
from pathlib import Path

from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.sets.builtin import builtin_cases
from intarsia_research.evaluation.sets.problem_file import read_problems

HUMANEVAL = (
    Path(__file__)
    .parents[2]
    .joinpath("tests/data/human-eval-infilling/HumanEval-SingleLineInfilling.jsonl.gz")
)
SEED = 7

_MOST_PER_FILE = 2
_MOST_PER_PROBLEM = 5  # their contexts are short


def all_cases(humaneval: Path = HUMANEVAL) -> list[Case]:
    """Return every case of both sets. Raise EvaluationFault where one cannot be read."""
    builtin = builtin_cases(languages=None, kinds=None, limit=None, seed=SEED)
    return [*builtin, *read_problems(humaneval, limit=None, seed=SEED)]


def sample(cases: Sequence[Case]) -> list[Case]:
    """Return some cases of each file and problem, problems and files in turns.

    The cases of one follow each other by position: the engine still holds most of their context.
    """
    builtin = [case for case in cases if case.test is None]
    problems = [case for case in cases if case.test is not None]
    turns = zip_longest(
        _by_group(problems, _MOST_PER_PROBLEM), _by_group(builtin, _MOST_PER_FILE), fillvalue=()
    )
    return list(chain.from_iterable(chain.from_iterable(turns)))


def _by_group(cases: Sequence[Case], most: int) -> list[list[Case]]:
    shuffled = random.Random(SEED).sample(cases, len(cases))
    groups: defaultdict[str, list[Case]] = defaultdict(list)
    for case in shuffled:
        groups[case.group].append(case)
    return [sorted(group[:most], key=lambda it: len(it.prefix)) for group in groups.values()]
