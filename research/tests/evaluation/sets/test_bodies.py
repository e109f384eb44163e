"""Documented bodies: which functions of a file have one, and that their examples judge it."""

from pathlib import Path

import pytest

from intarsia.infill.filling.plan import FillOptions, FillPlan
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.run_tests import program_to_run
from intarsia_research.evaluation.sets.bodies import doctest_cases
from intarsia_research.evaluation.systems.client import plan_case
from intarsia_research.sandbox.execute import find_sandbox

SOURCE = '''"""Areas."""

import math

try:
    from .units import unit
except ImportError:
    unit = 1


class Circle:
    """Not a function.

    >>> Circle.of(1)
    """

    @staticmethod
    def area(radius):
        """Return the area.

        >>> round(Circle.area(1), 2)
        3.14
        """

        # of a circle
        square = radius**2
        return math.pi * square * unit

    def none(self):
        """Return None, without an example."""
        value = None
        return value


def one_line():
    """Say it.

    >>> one_line()
    1
    """
    return 1
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "areas.py").write_text(SOURCE)
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "needs.py").write_text("from .areas import Circle\n" + SOURCE)
    return tmp_path


def test_a_body_of_some_lines_whose_docstring_has_examples_is_a_case(folder: Path) -> None:
    (case,) = doctest_cases([folder], limit=None, seed=1)
    assert case.id == "areas.py:Circle.area"
    assert case.prefix.endswith('3.14\n        """\n        ')
    assert case.truth.startswith("# of a circle\n        square")
    assert case.suffix.startswith("\n\n    def none(self)")
    sandbox = find_sandbox()
    assert sandbox.passes(program_to_run(case, case.truth))
    assert sandbox.passes(program_to_run(case, "return 3.14159 * radius * radius"))
    assert not sandbox.passes(program_to_run(case, "return radius"))


def test_the_model_is_asked_for_it_but_where_it_may_not_be(folder: Path) -> None:
    (case,) = doctest_cases([folder / "areas.py"], limit=3, seed=1)
    options = FillOptions()
    asked, filled = plan_case(case, options), plan_case(case, options, may_ask=False)
    assert isinstance(asked, FillPlan) and isinstance(filled, FillPlan)
    assert (asked.asked is None, filled.asked is None) == (False, True)


def test_files_without_such_a_body_are_told(folder: Path) -> None:
    with pytest.raises(EvaluationFault, match="no Python function with examples"):
        doctest_cases([folder / "needs.py", folder / "broken.py"], limit=None, seed=1)
