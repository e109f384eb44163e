import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.balance_brackets import balance_brackets


@pytest.mark.parametrize(
    ("language_id", "source", "fill", "expected"),
    [
        ("python", "x = ║\n", "f(1))", "f(1)"),
        ("python", "x = (1,\n     ║\n     3)\n", "2,)", "2,"),
        ("python", "x = f(║\n", "1)", "1)"),
        ("python", "x = ║\n", "f(", "f("),
        ("javascript", "const a = ║\n", "f(1)});", "f(1);"),
        ("javascript", "f(() => {║\n", "\n  a();\n});", "\n  a();\n});"),
        (
            "go",
            "func f() error {\n\t║\n}\n",
            "err := g()\n\tif err != nil {\n\t\treturn err",
            "err := g()\n\tif err != nil {\n\t\treturn err\n\t}",
        ),
        ("python", "x = sorted(y, key=║)[:2]\n", "lambda z: len(z", "lambda z: len(z)"),
        ("cpp", "int a = f(g(1,\n    ║));\n", "h(2", "h(2)"),
        ("python", "x = ║]\n", "[f(1", "[f(1)"),
        ("python", "f(║)\n", "g(1, (2", "g(1, (2))"),
        ("plaintext", "f(║)\n", "g(1", "g(1"),
        ("plaintext", "║\n", "a)", "a)"),
        ("python", "x = '║'\n", ":-)", ":-)"),
    ],
)
def test_brackets_are_balanced_where_the_parser_likes_it(language_id, source, fill, expected):
    assert balance_brackets(fill, drawn_hole(source, language_id).context()) == expected
