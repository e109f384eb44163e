import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.drop_special_tokens import drop_special_tokens


@pytest.mark.parametrize(
    ("fill", "expected"),
    [
        ("a = 1<|endoftext|>b", "a = 1"),
        ("a<|fim_suffix|>b", "a"),
        ("a<fim_middle>b", "a"),
        ("a<｜end▁of▁sentence｜>b", "a"),
        ("a\0b", "a"),
        ("'é\ufffd\ufffd", "'é"),
        ("a <| b |> c", "a <| b |> c"),
        ("a || b", "a || b"),
        ("<s>text</s>", "<s>text</s>"),
        ("<|im_end|>", ""),
    ],
)
def test_a_fill_ends_at_the_first_mark_of_the_model(fill, expected):
    assert drop_special_tokens(fill, drawn_hole("x = ║").context()) == expected
