"""Which lines come first: drops count, and what a line shares with the edit."""

from intarsia.engine.families.masked_causal.next_edit.drop import (
    LineDrop,
    best_first,
    largest_drops,
)
from intarsia.engine.families.masked_causal.next_edit.edited_window import (
    EditedLines,
    WindowLine,
    read_lines,
)
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, TextPart

LINES = ("x = 1\n", "y = old(3)\n", "call(other)\n", "z = new(3)\n")
RENAME = EditExample(before="a = old(1)\n", after="a = new(1)\n")


def window() -> EditedLines:
    text = "".join(LINES)
    part = TextPart(before=text, after=text, may_change=True)
    return read_lines(FindNextEdits(id=1, parts=(part,), example=None))


def ranked(losses: dict[int, list[float]], example: EditExample = RENAME) -> list[int]:
    lines = window()
    tokens = [(lines.lines[n], loss) for n, own in losses.items() for loss in own]
    return [it.line.number for it in best_first(largest_drops(tokens), lines.after, example)]


def test_the_drop_of_a_line_is_its_largest_and_the_net_drop_the_sum() -> None:
    line: WindowLine = window().lines[0]
    found = largest_drops([(line, 1.5), (line, -0.5), (line, 2.0)])
    assert found == [LineDrop(line=line, drop=2.0, net_drop=3.0)]
    assert largest_drops([(line, -1.0)]) == []


def test_the_larger_drop_comes_first_where_nothing_else_differs() -> None:
    assert ranked({0: [2.0], 2: [3.0]}) == [2, 0]


def test_a_line_with_the_removed_name_comes_before_a_somewhat_larger_drop() -> None:
    """But not before a much larger one."""
    assert ranked({1: [2.0], 2: [4.0]}) == [1, 2]
    assert ranked({1: [2.0], 2: [40.0]}) == [2, 1]


def test_a_line_that_resembles_the_edited_ones_comes_first() -> None:
    assert ranked({2: [2.0], 3: [2.0]}, EditExample(before="a = 3\n", after="a = 4\n")) == [3, 2]


def test_the_words_of_added_lines_count_where_nothing_was_replaced() -> None:
    added = EditExample(before="x\ny\n", after="x\ncall(some)\ny\n")
    assert ranked({1: [2.0], 2: [2.0]}, added) == [2, 1]


def test_what_other_tokens_of_the_line_gained_counts_against_it() -> None:
    assert ranked({0: [2.0, -1.9], 2: [1.9]}) == [2, 0]


def test_a_drop_too_small_for_a_correction_comes_last() -> None:
    assert ranked({1: [0.9, 0.8, 0.7], 2: [1.1]}) == [2, 1]
