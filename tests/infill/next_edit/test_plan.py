"""The window around an edit: whole lines, both texts exact, and only what may change is free."""

import re

from code_like_text import PIECES, languages, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.engine.ipc.messages import EditExample
from intarsia.infill.languages import language_for_id
from intarsia.infill.next_edit.plan import (
    ABOVE_TOKENS,
    BELOW_TOKENS,
    EditedText,
    NextEditPlan,
    plan_next_edits,
    plan_reading,
)
from intarsia.infill.next_edit.settled_edit import Hunk, LineRange, plain_lines, settled_edit

PYTHON = language_for_id("python")
LONG = "".join(f"value_{i} = compute({i})\n" for i in range(400))


def edited(before: str, after: str, silent: tuple[LineRange, ...] = ()) -> EditedText:
    edit = settled_edit(before, after)
    assert isinstance(edit, Hunk)
    return EditedText(before=before, after=after, edit=edit, newest=edit.new_range, silent=silent)


def split(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def check(plan: NextEditPlan, before: str, after: str) -> None:
    """Joined, the parts are whole lines of the new text; in their place, those of the old one."""
    old, new = plain_lines(before), plain_lines(after)
    shown_old = split("".join(part.before for part in plan.parts))
    shown_new = split("".join(part.after for part in plan.parts))
    first, last = plan.first_line, plan.first_line + len(shown_new)
    assert new[first:last] == shown_new
    assert new[:first] + shown_old + new[last:] == old
    for part in plan.parts[:-1]:
        assert all(not text or text.endswith("\n") for text in (part.before, part.after))
    assert all(not part.may_change for part in plan.parts if part.before != part.after)
    assert all(first <= line < last for line in plan.free_lines)


def test_the_window_holds_the_edit_and_what_is_around_it() -> None:
    after = LONG.replace("value_200 = compute(200)", "value_200 = other(200)")
    plan = plan_next_edits(edited(LONG, after), PYTHON)
    check(plan, LONG, after)
    assert [part.may_change for part in plan.parts] == [True, False, True]
    above, edit, below = plan.parts
    assert (edit.before, edit.after) == (
        "value_200 = compute(200)\n",
        "value_200 = other(200)\n",
    )
    assert 0.7 * 3.2 * ABOVE_TOKENS < len(above.after) <= 3.2 * ABOVE_TOKENS
    assert 0.7 * 3.2 * BELOW_TOKENS < len(below.after) <= 3.2 * BELOW_TOKENS
    assert plan.example == EditExample(before=edit.before, after=edit.after)
    assert plan.first_line + above.after.count("\n") == 200 == plan.edit_line


def test_an_insertion_has_its_neighbours_in_the_example() -> None:
    plan = plan_next_edits(edited("a = 1\nc = 3\n", "a = 1\nb = 2\nc = 3\n"), PYTHON)
    assert plan.example == EditExample(before="a = 1\nc = 3\n", after="a = 1\nb = 2\nc = 3\n")
    at_end = plan_next_edits(edited("a = 1", "a = 1\nb = 2"), PYTHON)
    assert at_end.example == EditExample(before="a = 1\n", after="a = 1\nb = 2\n")


def test_accepted_offers_are_changed_parts_and_the_example_stays() -> None:
    first = LONG.replace("value_200 = compute(200)", "value_200 = other(200)")
    edit = settled_edit(LONG, first)
    assert isinstance(edit, Hunk)
    both = first.replace("value_210 = compute(210)", "value_210 = other(210)")
    newest = LineRange(start=210, end=211)
    plan = plan_next_edits(EditedText(before=LONG, after=both, edit=edit, newest=newest), PYTHON)
    check(plan, LONG, both)
    changed = [part.after for part in plan.parts if part.before != part.after]
    assert changed == ["value_200 = other(200)\n", "value_210 = other(210)\n"]
    assert plan.example == EditExample(
        before="value_200 = compute(200)\n", after="value_200 = other(200)\n"
    )
    assert plan.edit_line == 200


def test_a_window_starts_where_an_earlier_one_did() -> None:
    after = LONG.replace("value_200 = compute(200)", "value_200 = other(200)")
    reading = plan_reading(LONG, 205, PYTHON)
    plan = plan_next_edits(edited(LONG, after), PYTHON, [reading.window])
    assert plan.first_line == reading.first_line
    assert plan_next_edits(edited(LONG, after), PYTHON).first_line != reading.first_line


def test_dismissed_lines_may_not_change() -> None:
    silent = (LineRange(start=2, end=3), LineRange(start=5, end=5))
    before = "".join(f"v{i} = {i}\n" for i in range(8))
    after = before.replace("v0 = 0", "v0 = x")
    plan = plan_next_edits(edited(before, after, silent), PYTHON)
    check(plan, before, after)
    assert plan.free_lines == {1, 3, 4, 6, 7}
    assert not plan.may_change(LineRange(start=2, end=3))
    assert not plan.may_change(LineRange(start=1, end=3))
    assert plan.may_change(LineRange(start=3, end=5))
    assert not plan.may_change(LineRange(start=0, end=1))


def test_directions_without_a_free_line_are_known() -> None:
    first = plan_next_edits(edited("a = 1\nb = 2\n", "x = 1\nb = 2\n"), PYTHON)
    assert (first.has_lines("below"), first.has_lines("above")) == (True, False)
    last = plan_next_edits(edited("a = 1\nb = 2\n", "a = 1\ny = 2\n"), PYTHON)
    assert (last.has_lines("below"), last.has_lines("above")) == (False, True)


def test_huge_lines_are_left_out_of_the_window() -> None:
    huge = "x = '" + "a" * 300_000 + "'\n"
    before, after = huge + "a = 1\n" + huge, huge + "b = 1\n" + huge
    plan = plan_next_edits(edited(before, after), PYTHON)
    assert [(part.before, part.after) for part in plan.parts] == [("a = 1\n", "b = 1\n")]
    assert plan.first_line == 1


pieces = st.lists(st.sampled_from([*PIECES, "a = 1\n", "b\n", "\n"]), max_size=30).map("".join)


@settings(max_examples=300)
@given(pieces, languages, st.data())
def test_any_edit_of_any_text(text: str, language: object, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    after = text[:start] + data.draw(texts) + text[end:]
    edit = settled_edit(text, after)
    if not isinstance(edit, Hunk):
        return
    line = data.draw(st.integers(0, len(plain_lines(after))))
    silent = (LineRange(start=line, end=data.draw(st.integers(line, line + 3))),)
    earlier = [plan_reading(text, line, language).window]  # type: ignore[arg-type]
    plan = plan_next_edits(edited(text, after, silent), language, earlier)  # type: ignore[arg-type]
    check(plan, text, after)
    quiet = {at for it in silent for at in range(it.start, max(it.end, it.start + 1))}
    assert quiet.isdisjoint(plan.free_lines)


@settings(max_examples=200)
@given(pieces, languages, st.data())
def test_any_line_of_any_text_can_be_read(text: str, language: object, data: st.DataObject) -> None:
    line = data.draw(st.integers(0, 40))
    plan = plan_reading(text, line, language)  # type: ignore[arg-type]
    (part,) = plan.parts
    assert part.before == part.after
    assert plan.example is None
    lines = split(part.after)
    assert plain_lines(text)[plan.first_line :][: len(lines)] == lines
