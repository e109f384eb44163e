from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.research.holes.code_map import offsets_of_bytes


@settings(max_examples=100, deadline=None)
@given(st.text("aä😀\ud800\n", max_size=30))
def test_every_byte_knows_its_character_and_the_end_comes_last(text):
    widths = [len(character.encode("utf-8", "replace")) for character in text]
    expected = [place for place, width in enumerate(widths) for _ in range(width)]
    assert list(offsets_of_bytes(text)) == [*expected, len(text)]
