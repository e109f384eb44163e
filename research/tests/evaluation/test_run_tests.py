"""When tests of filled programs are run, and what becomes of their answers."""

from dataclasses import replace

import pytest
from judged_rows import failure, row
from sample_cases import case

from intarsia_research.commands.eval.choose import choose_sandbox
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.run_tests import run_tests
from intarsia_research.sandbox.execute import Sandbox
from intarsia_research.sandbox.isolation import isolations


def case_with_test(name: str, test: str | None = "assert x == 1") -> Case:
    return replace(case("x = ", "1", name=name), test=test)


class Passing(Sandbox):
    """Says of a program whether it holds ``x = 1``, and keeps what was asked."""

    def passes(self, program: str) -> bool:
        ASKED.append(program)
        return "x = 1\n" in program


ASKED: list[str] = []
OPEN = Sandbox(isolation=isolations()[-1])


@pytest.fixture
def passing() -> Sandbox:
    ASKED.clear()
    return Passing(isolation=isolations()[-1])


def test_judgements_come_to_their_rows_and_equal_programs_run_once(passing: Sandbox):
    cases = [case_with_test("1"), case_with_test("2"), case_with_test("none", test=None)]
    rows = [
        row("1", "a", set="sample", text="1"),
        row("1", "b", set="sample", text="1"),
        row("2", "a", set="sample", text="2"),
        row("none", "a", set="sample", text="1"),
        failure("2", "b", set="sample"),
        row("1", "a", set="another", text="1"),
    ]
    done = run_tests(rows, cases, passing, lambda words, share: None)
    assert [one.judgement.passed for one in done] == [True, True, False, None, False, None]
    assert sorted(ASKED) == ["x = 1\n\nassert x == 1", "x = 2\n\nassert x == 1"]
    assert done[0].judgement.similarity == rows[0].judgement.similarity


def test_a_fault_of_a_program_s_run_ends_the_others(monkeypatch: pytest.MonkeyPatch):
    def passes(self: Sandbox, program: str) -> bool:
        raise OSError("no more processes")

    monkeypatch.setattr(Sandbox, "passes", passes)
    rows = [row(str(number), set="sample", text=str(number)) for number in range(50)]
    with pytest.raises(OSError, match="no more processes"):
        run_tests(
            rows, [case_with_test(str(n)) for n in range(50)], OPEN, lambda words, share: None
        )


def test_without_a_sandbox_nothing_is_run_unless_that_is_asked_for(monkeypatch, capsys):
    monkeypatch.setattr("intarsia_research.commands.eval.choose.find_sandbox", lambda: OPEN)
    assert choose_sandbox([case_with_test("1")], is_executed=None) is None
    assert "the tests are not run" in capsys.readouterr().err
    assert choose_sandbox([case_with_test("1")], is_executed=True) is OPEN
    assert "WITH your rights" in capsys.readouterr().err
    assert choose_sandbox([case_with_test("1")], is_executed=False) is None
    assert choose_sandbox([case_with_test("1", test=None)], is_executed=True) is None
    assert capsys.readouterr().err == ""


def test_where_nothing_can_be_run_only_who_asked_for_it_is_stopped(monkeypatch, capsys):
    def find() -> Sandbox:
        raise EvaluationFault("programs are run elsewhere only: leave it out")

    monkeypatch.setattr("intarsia_research.commands.eval.choose.find_sandbox", find)
    assert choose_sandbox([case_with_test("1")], is_executed=None) is None
    assert "the tests are not run: programs are run elsewhere" in capsys.readouterr().err
    with pytest.raises(EvaluationFault):
        choose_sandbox([case_with_test("1")], is_executed=True)
