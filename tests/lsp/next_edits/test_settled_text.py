"""Which change is one edit: lines that the user goes on with, undo, white space, several places."""

from code_like_text import texts
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.next_edits.watched import SettledEdit, SettledText

TEXT = "".join(f"line {i}\n" for i in range(20))


def edited(line: int, new: str, text: str = TEXT) -> str:
    return text.replace(f"line {line}\n", new)


def settle(document: SettledText, text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]] | str:
    """Return the text before, the old and the new lines; or the reason why there is no edit."""
    found = document.settle(text)
    if isinstance(found, NoSuggestion):
        return found.reason
    return found.before, found.edit.old_lines, found.edit.new_lines


def test_an_edit_is_the_difference_to_the_text_before() -> None:
    document = SettledText(TEXT)
    first = edited(3, "x\n")
    assert settle(document, first) == (TEXT, ("line 3\n",), ("x\n",))
    assert settle(document, edited(9, "y\n", first)) == (first, ("line 9\n",), ("y\n",))


def test_who_goes_on_in_the_same_lines_goes_on_with_the_same_edit() -> None:
    document = SettledText(TEXT)
    settle(document, edited(3, "ba\n"))
    assert settle(document, edited(3, "bar\n")) == (TEXT, ("line 3\n",), ("bar\n",))
    longer = edited(3, "bar\nnext\n")
    assert settle(document, longer) == (edited(3, "bar\n"), (), ("next\n",))


def test_one_edit_never_grows_beyond_its_most_lines() -> None:
    document = SettledText(TEXT)
    six = "".join(f"new {i}\n" for i in range(6))
    assert settle(document, edited(3, six)) == (TEXT, ("line 3\n",), tuple(six.splitlines(True)))
    seven = six.replace("new 3\n", "new 3\nmore\n")
    assert settle(document, edited(3, seven)) == (edited(3, six), (), ("more\n",))


def test_white_space_alone_is_no_edit_and_part_of_the_next_one() -> None:
    document = SettledText(TEXT)
    blank = edited(3, "line 3\n\n")
    assert settle(document, blank) == "only white space has changed"
    assert settle(document, edited(3, "line 3\nnew\n")) == (TEXT, (), ("new\n",))
    document = SettledText(TEXT)
    settle(document, blank)
    assert settle(document, edited(15, "new\n", blank)) == (blank, ("line 15\n",), ("new\n",))


def test_a_large_change_is_the_new_beginning() -> None:
    document = SettledText(TEXT)
    other = edited(3, "a\n", edited(12, "b\n"))
    assert settle(document, other) == "several places have changed"
    assert settle(document, edited(5, "c\n", other)) == (other, ("line 5\n",), ("c\n",))


def test_a_text_that_was_there_is_restored_and_at_rest_again() -> None:
    document = SettledText(TEXT)
    typed, more = edited(3, "x\n"), edited(3, "xy\n")
    assert not document.is_restored(typed)
    assert not document.is_restored(more)
    settle(document, more)
    assert document.is_restored(typed)
    assert document.text == more  # it was only typed through
    assert document.is_restored(TEXT)
    assert (document.text, document.last) == (TEXT, None)
    other = edited(7, "z\n")
    assert not document.is_restored(other)
    assert settle(document, other) == (TEXT, ("line 7\n",), ("z\n",))


def test_accepted_offers_belong_to_the_edit() -> None:
    document = SettledText(TEXT)
    first = edited(3, "x\n")
    settle(document, first)
    accepted = edited(9, "x\n", first)
    document.accept(accepted)
    assert settle(document, accepted) == "nothing has changed"
    assert document.last == SettledEdit(before=TEXT, edit=document.last.edit)
    assert settle(document, edited(5, "y\n", accepted)) == (accepted, ("line 5\n",), ("y\n",))


def test_a_rename_ends_the_edit() -> None:
    document = SettledText(TEXT)
    settle(document, edited(3, "x\n"))
    renamed = TEXT.replace("line", "row")
    document.finish(renamed)
    assert document.last is None
    assert settle(document, renamed) == "nothing has changed"
    more = renamed.replace("row 3", "row three")
    assert settle(document, more) == (renamed, ("row 3\n",), ("row three\n",))
    assert document.is_restored(renamed)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from(["type", "rest", "accept", "reset"]), texts), max_size=8))
def test_any_history_leads_to_edits_between_texts_that_were_there(events):
    document, seen = SettledText(""), {""}
    for what, text in events:
        seen.add(text)
        if what == "type":
            document.is_restored(text)
        elif what == "rest":
            found = document.settle(text)
            if isinstance(found, SettledEdit):
                assert found.before in seen
                assert found.edit.old_lines != found.edit.new_lines
            assert document.text == text
        elif what == "accept":
            document.accept(text)
        else:
            document.reset(text)
