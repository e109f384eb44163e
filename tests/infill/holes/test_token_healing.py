import pytest
from marked_text import read_marked

from intarsia.infill.holes.token_healing import given_start


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("    ret║", " ret"),
        ("x.app║", ".app"),
        ("foo(se║", "(se"),
        ("foo║", "foo"),
        ("a = b║", " b"),
        ("    ║", " "),
        ("\t\t║", "\t"),
        ("x\n║", ""),
        ("║", ""),
        ("x\nfoo║", "foo"),
        ("f(║", "("),
        ("naïve 東京║", " 東京"),
        ("x = '😀║", ""),
        ("\ufeffab║", "ab"),
        ("a" * 100 + "║", "a" * 64),
        ("-" + "a" * 63 + "║", "-" + "a" * 63),
        ("-" + "a" * 64 + "║", "a" * 64),
    ],
)
def test_the_fill_begins_at_the_half_word_and_the_mark_before_it(source, given):
    marked = read_marked(source)
    assert marked.text[given_start(marked.text, marked.start) : marked.start] == given
