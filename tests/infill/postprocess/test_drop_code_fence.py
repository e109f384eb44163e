import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.drop_code_fence import drop_code_fence


@pytest.mark.parametrize(
    ("fill", "expected"),
    [
        ("```python\nx = 1\n```\nThis sets x.", "x = 1"),
        ("x = 1\n```\n", "x = 1"),
        ("x = 1", "x = 1"),
        ("x = `a`", "x = `a`"),
    ],
)
def test_the_fence_of_a_chat_model_is_removed(fill, expected):
    assert drop_code_fence(fill, drawn_hole("║").context()) == expected


def test_plain_text_may_have_fences():
    assert (
        drop_code_fence("```sh\nls\n```", drawn_hole("║", "plaintext").context())
        == "```sh\nls\n```"
    )


def test_a_docstring_may_have_fences():
    context = drawn_hole('def f():\n    """Do.\n\n    ║║\n    """\n').context()
    assert drop_code_fence("\n    ```\n    a", context) == "\n    ```\n    a"
