"""What a fill loses: tails, repetitions, foreign tokens, hidden characters, too many lines."""

import pytest
from drawn_hole import drawn_hole

from intarsia.infill.filling.judged import align, is_whole_beginning
from intarsia.infill.postprocess.clean import (
    cut_at_hidden_character,
    drop_broken_tail,
    drop_code_fence,
    drop_leading_blank_lines,
    drop_special_tokens,
    trim_blank,
)
from intarsia.infill.postprocess.cut import (
    cut_repetition,
    cut_suffix_overlap,
    cut_to_max_lines,
    cut_to_scope,
    is_known_line,
)
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion, Suggestion


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("x = ║\n", "1\ny = 2", "1"),
        ("x = ║\n", "\n1", ""),
        ("x = ║1║\n", "2\n3", "2"),
        ("x = ║\n", "f(\n    1)\ny = 2", "f(\n    1)"),
        ("x = ║\n", "f(\n    1,\n", "f("),
        ("x = [║]\n", "f(\n    1)", "f("),
        ("def f():║\n", "\n" + "    a\n" * 40, "\n" + "\n".join(["    a"] * 32)),
        ("def f():\n    ║\n", "a\n    b", "a\n    b"),
    ],
)
def test_a_fill_has_no_more_lines_than_its_hole_allows(source, fill, expected):
    assert cut_to_max_lines(fill, drawn_hole(source).context()) == expected


@pytest.mark.parametrize(
    ("language_id", "source", "fill", "expected"),
    [
        ("python", "def f():\n    ║\n", "a\n    b\nc", "a\n    b"),
        ("python", "def f():║\n", "\n    a\n\n    b\n\nc", "\n    a\n\n    b\n"),
        ("python", "def f():\n    ║\n", "if a:\n        b\n    c", "if a:\n        b\n    c"),
        ("python", "x = ║\n", "1\ny", "1\ny"),
        ("javascript", "function f() {\n  ║\n}\n", "a();\n}\n\nb();", "a();"),
        ("javascript", "f(() => {║})", " return 1; })", " return 1;"),
        ("go", "\tswitch x {\n\t║\n\t}\n", "case 1:\n\t\tf()\n\t}\n\tg()", "case 1:\n\t\tf()"),
        ("ruby", "def f\n  ║\nend\n", "a\n  b\nend\ndef g", "a\n  b"),
        ("html", "<ul>\n  ║\n</ul>\n", "<li>a</li>\n</ul>\n<p>", "<li>a</li>"),
        ("css", "a {\n  ║\n}\n", "color: red;\n}\nb {", "color: red;"),
    ],
)
def test_a_body_ends_with_its_scope(language_id, source, fill, expected):
    assert cut_to_scope(fill, drawn_hole(source, language_id).context()) == expected


def test_a_body_that_does_not_begin_inside_its_header_is_dropped():
    context = drawn_hole("def f():\n║\n").context()
    assert isinstance(cut_to_scope("def g():\n    pass", context), NoSuggestion)
    assert cut_to_scope("    pass", context) == "    pass"


@pytest.mark.parametrize(
    ("fill", "expected"),
    [
        ("a = foo()\nb = bar()\nb = bar()\nb = bar()\nb = bar()", "a = foo()\nb = bar()"),
        ("if x:\n    foo()\n" * 3, "if x:\n    foo()"),
        ("foo()\nfoo()", "foo()\nfoo()"),
        ("0,\n0,\n0,\n0,", "0,\n0,\n0,\n0,"),
        ("}\n}\n}\n}", "}\n}\n}\n}"),
        ("x = name, name, name, name, name, na", "x = name,"),
        ("int, int, int", "int, int, int"),
        ("f(name, name, name, name, name, 1)",) * 2,
        ("0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0", "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0"),
        ("# ----------------------------------", "# ----------------------------------"),
        ("'a,b,c'.split(',')", "'a,b,c'.split(',')"),
        ("Thanks. I am happy to write. I am happy to write. I am", "Thanks. I am happy to write."),
        ("Do it well. Do it well. Do it", "Do it well. Do it well. Do it"),
        (
            "go --cov=shop --report=term -v go --cov=shop --report=term -v go --cov=shop",
            "go --cov=shop --report=term -v",
        ),
        ("f(first, second, third), f(first, second, third)",) * 2,
        ("x = f(1, 0." + "0" * 60, "x = f(1,"),
        ("x = [1, " + "1234567890" * 6, "x = [1,"),
        ("x = 1_" + "000_" * 20 + "0", "x ="),
        ("x = " + "1" * 40, "x = " + "1" * 40),
        ("x = " + "7" * 60 + ";", "x = " + "7" * 60 + ";"),
        ("debian:12@sha256:8af0e5095f9964007f5e", "debian:12"),
        ("rev = 72669190cb947f0cac1d038a8bb1820da59ef447 # b", "rev ="),
        ("x = 0x9e3779b97f4a7c159e3779b9, deadbeef", "x = 0x9e3779b97f4a7c159e3779b9, deadbeef"),
        ("a=0, be=F, we.fr" + "e=F, we.fr" * 3, "a=0, be=F,"),  # no half of a word
        ("x = f" + "(g is given all of its words" * 2 + "(g is", "x = f(g is given all of its"),
    ],
)
def test_a_loop_is_cut_after_its_first_round(fill, expected):
    assert cut_repetition(fill, drawn_hole("║").context()).rstrip() == expected


def check(source, fill, expected, language_id="python"):
    context = drawn_hole(source, language_id).context()
    kept = cut_suffix_overlap(fill, context)
    assert ("" if is_known_line(kept, context) else kept) == expected


@pytest.mark.parametrize("fill", ["return False", "raise Missing(name)", "return self.default(x)"])
def test_a_branch_may_end_as_the_code_after_it_does(fill):
    check(f"def f(x):\n    if x:\n        ║\n    {fill}\n", fill, fill)
    check(f"def f(x):\n    if x:\n║\n    {fill}\n", " " * 8 + fill, " " * 8 + fill)
    check(f"def f(x):\n    ║\n    {fill}\n", fill, "")


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("f(║)", "x)", "x"),
        ("f(║)", "x)  ", "x"),
        ("f(║)", "g(x)", "g(x)"),
        ("f(║)", "g(x))", "g(x)"),
        ("f(║)", "x);", "x"),
        ("if (║)\n  return\n}\n", "a) {", "a"),
        ("a(1, [║])\nb(\n", "2, 3]);", "2, 3"),
        ("f(g(\n  total║, y)\n", ")", ")"),
        ("f(║)", "x) + g(y", "x) + g(y"),
        ("f(║)", "x) + g(y)", "x) + g(y"),
        ("f(g(║)", "x)", "x)"),
        ("x = f(g(║), '/')", "a, 0), '/') + 1", "a, 0"),
        ("f(║, b)", "a, b)", "a"),
        ("f(║, b)", "a,", "a"),
        ("x = ║ + b", "a + b", "a"),
        ("x = ║ + g(b)", "a + g(b)", "a"),
        ('print("║")', 'hi")', "hi"),
        ("x = [║]", "1, 2]", "1, 2"),
        ("x = {║}", "'a': 1}", "'a': 1"),
        ("if ║:", "x > 1:", "x > 1"),
        ("x = ║alpha", "data", "data"),
        ("x = ║alpha", "1 + alpha", "1 + "),
        ("self.na║me = 1", "me = 1", ""),
        ("self.na║me = 1", "me = other", ""),
        ("self.na║me = 1", "med_fu", "med_fu"),
        ("f(self.║ame)", "name)", "n"),
        ("f(na║s)", "mes)", "me"),
        ("x = to║l", "tal", "tal"),
        ("a = '<b c=\"d║\"><i>e</i></body>';", "-f\">g&lt;</body>';", ""),
        ("f(a, ║g(b, total))", "h(b, total), ", "h(b, total), "),
        ("x and y║ < 0 or z * two > last", " < 0 or z * two >", ""),
        ("x and y║ < 0 or z * two > last", " < 0 or z * two > last or", ""),
    ],
)
def test_the_rest_of_the_line_is_not_written_twice(source, fill, expected):
    check(source, fill, expected)


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("a = 1\n║\nreturn a\n", "b = 2\nreturn a", "b = 2"),
        ("a = 1\n║\n\nreturn a\n", "b = 2\n\nreturn a\n\nmore()", "b = 2\n"),
        ("a = 1\n║\nreturn a\n", "return a", ""),
        ("    ║\n    }\n", "}", ""),
        ("  ║\n}\n", "}", "}"),
        ("a = 1\n║║\n)\n", "b,\n)", "b,"),
        ("a = 1\n║║\n)\n", "f(\n)\ng(\n)\nh()", "f(\n)\ng(\n)\nh()"),
        ("a = 1\n║║\nreturn a\n", "b = 2\nreturn ab", "b = 2\nreturn ab"),
        ("a = 1\n║║\nreturn a\n", "b = 2\nret", "b = 2\nret"),
        ("║║\nx = 1\ny = 2\n", "x = 1\ny = 2\nz = 3", ""),
        ("║║\nx = 1\ny = 2\n", "x = 1\nz = 3", "x = 1\nz = 3"),
        ("║║\nx = 1\ny = 2\n", "x = 1\ny =", ""),
        ("║║foo()\nbar()\n", "a()\nfoo()\nbar()", "a()"),
        ("x = ║║ + 1\ny = 2\n", "a + 1\ny = 2\nz", "a"),
        ("match a with\n  ║\n    | None ->\n", "| None ->", ""),
        ("<a>\n  ║\n    <b>\n", "<b>", "<b>"),
        ("f(\n    [first, second, third],\n    ║\n)\n", "[first, second, third]", ""),
        ("f(\n    [0, 1],\n    ║\n)\n", "[0, 1],", "[0, 1],"),
        ("f([\n    ║\n    (first, second, third)])\n", "(first, second, third),", ""),
        ("a = 1\r\n║║\r\nreturn a\r\n", "b = 2\nreturn a", "b = 2"),
    ],
)
def test_the_lines_after_the_hole_are_not_written_twice(source, fill, expected):
    check(source, fill, expected)


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("x = ║", "'a'\x1b]0;title\x07", "'a'"),
        ("x = ║", "'\x9b31m'", "'"),
        ("x = ║", "a\u202e + b", "a"),
        ("x = ║", "\U000e0041b", ""),
        ("x = ║", "a\u200b", "a"),
        ("x = ║", "'👨\u200d👩'", "'👨\u200d👩'"),
        ("x = ║", "a\n\tb", "a\n\tb"),
        ("# \u200b\nx = ║", "a\u200bb", "a\u200bb"),
        ("# \u200b\nx = ║", "a\u200bb\u202ec", "a\u200bb"),
    ],
)
def test_a_fill_ends_where_it_hides_something_new(source: str, fill: str, expected: str) -> None:
    assert cut_at_hidden_character(fill, drawn_hole(source).context()) == expected


def test_no_suggestion_has_a_raw_escape() -> None:
    assert drawn_hole("x = ║").draw("1\x1b[2J") == "x = ├1┤"
    assert drawn_hole("x = ║").draw("\x1b[2J1") == "no part of the text fits here"


def test_what_is_kept_keeps_its_confidences() -> None:
    written = [
        ConfidentToken("1 ", 0.9),
        ConfidentToken("+ 2\u202e", 0.7),
        ConfidentToken("3", 0.5),
    ]
    cleaned = drawn_hole("x = ║").clean("".join(token.text for token in written))
    assert isinstance(cleaned, Suggestion)
    assert align(written, cleaned.text) == (ConfidentToken("1 ", 0.9), ConfidentToken("+ 2", 0.7))


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("def f():\n    ║\n", "a = 1\n    b = g(a,", "a = 1"),
        ("def f():\n    ║\n", "a = 1\n    b = 2", "a = 1\n    b = 2"),
        ("def f():\n    ║\n", "a = 1\n    b = [\n        c,\n        d,", "a = 1"),
        ("def f():\n    ║\n", "a = [\n        c,", "a = [\n        c,"),
        ("x = ║\n", "f(", "f("),
    ],
)
def test_lines_that_the_model_did_not_finish_go(source, fill, expected):
    assert drop_broken_tail(fill, drawn_hole(source).context()) == expected


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


def test_plain_text_may_have_fences_and_cannot_be_broken():
    context = drawn_hole("║║", "plaintext").context()
    for text, stage in (("```sh\nls\n```", drop_code_fence), ("a\n(b", drop_broken_tail)):
        assert stage(text, context) == text


def test_a_docstring_may_have_fences():
    context = drawn_hole('def f():\n    """Do.\n\n    ║║\n    """\n').context()
    assert drop_code_fence("\n    ```\n    a", context) == "\n    ```\n    a"


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("def f():║\n", "\n\n\n    pass", "\n    pass"),
        ("def f():║\n", "\n    pass", "\n    pass"),
        ("def f():\n    ║\n", "\n    pass", "    pass"),
        ("x = 1\n║║\n", "\n  \ny = 2", "y = 2"),
        ("x = 1║║\n", "\n\ny = 2", "\n\ny = 2"),
        ("x = ║\n", "\n1", "\n1"),
        ("x = 1\n║║\n", "y = 2", "y = 2"),
    ],
)
def test_a_body_starts_at_the_cursor(source, fill, expected):
    assert drop_leading_blank_lines(fill, drawn_hole(source).context()) == expected


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


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("x = ║\n", " 1  ", "1"),
        ("x =║\n", " 1  ", " 1"),
        ("f(║)", "a ", "a"),
        ("f(a, ║)", " b", "b"),
        ("x = ║b", "a + ", "a + "),
        ("x = ║ + b", "a ", "a"),
        ("import {║}", " a ", " a "),
        ("def f():║\n", "\n    a\n\n", "\n    a"),
        ("    ║\n", "a\n", "a"),
    ],
)
def test_blanks_that_are_there_already_go(source, fill, expected):
    assert trim_blank(fill, drawn_hole(source).context()) == expected


@pytest.mark.parametrize(
    ("language_id", "source", "beginning", "goes_on"),
    [
        ("python", "x = ║\n", "f(a)", " + g(b)"),
        ("python", "def f():\n    ║\n", "a = 1\n    b = 2", "\n    c"),
        ("python", "x = f(║\n", "a", ", b)"),
        ("python", "# ║\n", "the sum", " of both"),
        ("python", "print(sorted(║))\n", "items", ", key=len"),
        ("javascript", "const x = ║\n", "a.b", ";"),
        ("javascript", "function f() {\n  ║\n}\n", "a();\n  b();", "\n  c();"),
        ("c", "int f() {\n  ║\n  g();\n}\n", "if (a)", " g();"),
        ("plaintext", "║", "(as one says)", " of it"),
        ("plaintext", "Dear ║", "user", " of it"),
        # The first word, finished or whole.
        ("python", "from .fields import Cou║\n", "ntField", " as CountField"),
        ("python", "x = ║\n", "price_of", "(article)"),
        ("python", "print(║)\n", "total", " * rate"),
        ("typescript", "const x = this.║;\n", "session", "?.device"),
        ("rust", "let x = ║\n", "Some", "(1)"),
        ("terraform", "resource ║", "aws_bucket", " {"),
        ("css", ".a { col║ }\n", "or", ": red;"),
        ("python", "x = 1\nimp║\n", "ort", " os"),
        ("python", "║\n", "total", " += rate"),
        ("plaintext", "make ║", "-j 4", " all"),
        # A word, where its line goes on.
        ("rust", "fn f() {\n    m!(|| {\n        ║\n        g();\n    });\n}\n", "let", " a = 1;"),
        ("python", "x = ║\n", "self.items", ".index(y)"),
        ("typescript", "const x = ║;\n", "rows.map", "((row) => row.id)"),
        ("cpp", "auto x = ║;\n", "std", "::move(y)"),
    ],
)
def test_whole_code_may_end_there(language_id, source, beginning, goes_on):
    assert is_whole_beginning(beginning, goes_on, drawn_hole(source, language_id).context())


@pytest.mark.parametrize(
    ("language_id", "source", "beginning", "goes_on"),
    [
        ("python", "x = ║\n", "f(a", ", b)"),
        ("python", "x = ║\n", "a +", "\n"),
        ("python", "x = ║\n", '"a', ', "b"'),
        ("python", "def f():\n    ║\n", "for a in b:", "\n"),
        ("python", "print(sorted(║))\n", "items, key", "=len"),  # another argument
        ("python", "║\n", "pivot = items", "[0]"),
        ("css", ".a { fo║ }\n", "nt", "-size: 1px;"),  # half a word
        ("python", "x = pr║ce\n", "ice", "(f)"),  # the word goes on behind the cursor
        ("plaintext", "{ it ║", "doesn", "'t }"),
        ("javascript", "const x = ║\n", "{ a: 1,", "\n"),
        ("plaintext", "name({a, B║\n  [B].\n", ", c})", " ->"),
        ("javascript", "const x = ║\n", "(a, b)", " => a + b"),
        ("c", "int f() {\n  ║\n  g();\n}\n", "if (a)", " {"),
        ("python", "║\n    return 1\n", "def f(a) -> list[str]", ":"),
        ("plaintext", "a('<%- b[║');\n", "c] %", ">"),
        ("plaintext", "a('<%- b[║');\n", "c]", " %>"),
        ("plaintext", "mixin a\n  ║\n", ".panel", "-body"),
        ("java", "class A {\n  ║\n  private int b;\n}\n", "private", " int a;"),
        ("lua", "║\n  f()\nend\n", "while f(a)", " do"),
        ("yaml", "a: 1\n║\nrun: b\n", "run: b", "c"),  # the line below, as cut
        # The bracket belongs on a line of its own.
        ("javascript", "function f() {║}\n", "\n  a();", "\n"),
        # Without a grammar the marks are looked at.
        ("plaintext", "grep { ║ } @names;", "$seen{", "$_}++"),
        ("plaintext", "map { ║ } @names;", "$_ =>", " 0"),
        ("plaintext", "(insert ║))", '(format "%', ' d")'),
        ("plaintext", "<li>{{ ║ }}</li>", "user.name }}", " {{ user.id"),
        ("markdown", "[a](║)\n", "https", "://b.c"),
        ("c", 'f("a"║);\n', ", b ? b :", ' "");'),  # behind a string, not in it
        # A word on its own line, with which the line below begins.
        ("javascript", "if (a) {║\n  expect(a);\n", "\n    expect", ".equal(a);"),
        ("php", "<?php\ntry {║\n    $a = f();\n}\n", "\n    $a", " = g();"),
        # A mark that leads the next word, and a word that is nothing without the next.
        ("plaintext", "tool --config ║", "local -", "x name"),
        ("plaintext", "tool ║", "objects/*.", "txt"),
        ("plaintext", "(list\n  ║\n", "(map #", ",(f a))"),
        ("plaintext", "  ║\n", "&.#{a.$prefix}", "is-wide { b: c }"),
        ("plaintext", "RUN a \\\n  ║\n  && c\n", "&& tool /src", " clean \\"),
        # A bracket that the rest of the text closes, where the file lacks one.
        ("plaintext", "keep <- ║\n  a,\n  b\n)\n", "function(new", ", old) {"),
    ],
)
def test_a_part_of_a_construct_may_not(language_id, source, beginning, goes_on):
    assert not is_whole_beginning(beginning, goes_on, drawn_hole(source, language_id).context())
