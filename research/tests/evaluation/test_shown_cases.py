"""Which answers are shown, and in which order."""

from judged_rows import exact, failure, row

from intarsia_research.evaluation.shown_cases import galleries


def names(shown):
    return [case.row.case for case in shown]


def test_the_worst_are_wrong_text_then_nothing_then_failures():
    rows = [
        failure("failed"),
        row("near", similarity=0.9),
        row("empty", text="", is_empty=True, similarity=0.0),
        row("far", similarity=0.1),
        exact("right"),
    ]
    assert names(galleries(rows)[0].worst) == ["far", "near", "empty", "failed"]


def test_the_best_are_right_the_longest_first():
    rows = [
        exact("short", truth="x"),
        exact("long", truth="x = 1 + 2"),
        row("passed", passed=True, truth="xyz"),
        row("wrong"),
    ]
    assert names(galleries(rows)[0].best) == ["long", "passed", "short"]
    assert names(galleries(rows)[0].worst) == ["wrong"]


def test_so_many_are_shown_of_each_system_with_everyone_s_answers():
    rows = [row(str(case), name) for case in range(9) for name in ("speculative", "entropy")]
    found = galleries(rows, num_worst=4, num_best=2)
    assert [one.system for one in found] == ["speculative", "entropy"]
    assert [len(one.worst) for one in found] == [4, 4]
    assert [one.system for one in found[1].worst[0].answers] == ["speculative", "entropy"]
    assert found[1].best == ()


def test_cases_of_one_name_in_two_sets_are_not_mixed():
    rows = [row("1", set="a", text="one"), row("1", set="b", text="other")]
    assert [len(case.answers) for case in galleries(rows)[0].worst] == [1, 1]


def test_answers_stand_in_one_order_whoever_had_the_first_turn():
    rows = [row("1", "a"), row("1", "b"), row("2", "b"), row("2", "a")]
    for case in galleries(rows)[0].worst:
        assert [answer.system for answer in case.answers] == ["a", "b"]
