from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.syntax.difference import replaced_range


@given(st.text("ab\n", max_size=30), st.text("ab\n", max_size=30))
def test_replacing_the_stretch_gives_the_new_text(old, new):
    start, end, new_end = replaced_range(old, new)
    assert 0 <= start <= end <= len(old)
    assert old[:start] + new[start:new_end] + old[end:] == new


def test_one_typed_character_is_the_whole_difference():
    assert replaced_range("aab", "aacb") == (2, 2, 3)
    assert replaced_range("same", "same") == (4, 4, 4)
