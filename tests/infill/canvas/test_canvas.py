import pytest
from drawn_hole import drawn_hole

from intarsia.infill.canvas.canvas import _CLOSING_ONLY, MAX_STOP_CHARS, Budget, is_specific


def test_a_canvas_is_the_text_around_the_hole():
    canvas = drawn_hole("import os\n\nx = os.pa║\ny = 1\n").canvas()
    assert canvas.prefix == "import os\n\nx = os"
    assert canvas.given == ".pa"
    assert canvas.suffix == "\ny = 1\n"
    assert (canvas.kind, canvas.language, canvas.stop) == ("line", "python", ("\n",))
    assert (canvas.max_open, canvas.min_indent, canvas.max_tokens) == (0, 0, 96)


def test_line_ends_and_byte_order_mark_are_not_shown():
    canvas = drawn_hole("\ufeffa = 1\r\nb = ║\r\nc = 2\r\n").canvas()
    assert canvas.prefix + canvas.given == "a = 1\nb = "
    assert canvas.suffix == "\nc = 2\n"


def test_what_the_range_holds_is_not_shown():
    canvas = drawn_hole("a = 1\n║secret = 2\n║b = 3\n").canvas()
    assert canvas.prefix + canvas.given + canvas.suffix == "a = 1\nb = 3\n"


def test_prefix_and_suffix_keep_to_the_budget():
    drawn = drawn_hole("a = 1\n" * 2000 + "b = ║\n" + "c = 1\n" * 2000)
    canvas = drawn.canvas(Budget(prefix_tokens=100, suffix_tokens=20, hole_tokens=9))
    assert 200 < len(canvas.prefix + canvas.given) <= 320 + 2
    assert 40 < len(canvas.suffix) <= 64
    assert canvas.max_tokens == 96


@pytest.mark.parametrize(
    ("language_id", "source", "min_indent", "stop"),
    [
        ("python", "def f():║\n", 1, ()),
        ("python", "def f():\n    ║\n", 4, ()),
        ("python", "def f():\n║\n", 1, ()),
        ("python", "class A:\n\tdef f():\n\t\t║\n", 16, ()),
        ("python", "def f():\n    ║\n\ndef g():\n", 4, ("\ndef g():",)),
        ("python", "if a:\n    ║\nreturn b\n", 4, ("\nreturn b\n",)),
        ("java", "    void f() {\n        ║\n    }\n", 5, ()),
        ("go", "func f() {\n\tselect {\n\t║\n\t}\n}\n", 0, ("\n\t}",)),
        ("ruby", "  def f\n    ║\n  end\n", 3, ()),
        ("shellscript", "if a; then\n  ║\nfi\n", 1, ()),
        ("css", "a {║}", 1, ()),
        ("python", "x = 1\n║║\ny = 22\n", 0, ("\ny = 22\n",)),
        ("python", "def f():\n    ║║foo()\n", 0, ("\n    foo()\n",)),
        ("python", "x = ║║ + 3\nfoo()\n", 0, ("\nfoo()\n",)),
        ("javascript", "function f() {\n  a();\n║║\n}\n", 1, ()),
        ("javascript", "function f( {\n  a();\n║║\n}\n", 0, ()),
        ("plaintext", "one\n║║\ntwo three\n", 0, ("\ntwo three\n",)),
    ],
)
def test_where_a_hole_of_several_lines_ends(language_id, source, min_indent, stop):
    canvas = drawn_hole(source, language_id).canvas(Budget(hole_tokens=77))
    assert (canvas.min_indent, canvas.stop, canvas.max_tokens) == (min_indent, stop, 77)


@pytest.mark.parametrize(
    ("language_id", "source", "max_open"),
    [
        ("python", "x = ║\n", 0),
        ("javascript", "function f() {\n  a()\n  ║\n}\n", 0),
        ("javascript", "function f() {\n  ║\n    a()\n  }\n}\n", 1),
        ("javascript", "║\n  a(() => {\n  })\n})\n", 2),
        ("python", "x = f(║)\n", None),  # the rest of its line follows
        ("python", "x = ║1║\n", None),  # a range stays within its line
        ("python", "# see ║\n", None),
        ("python", 'x = """\n║\n"""\n', None),
        ("plaintext", "one ║\n", 0),
        ("plaintext", "a)\nf {\n  one ║\n}\nb)\n", 1),  # of the two, one is behind the hole
        ("markdown", "one ║\n", None),
        ("python", "def f():\n    ║\n", None),  # a block
    ],
)
def test_how_many_brackets_a_line_may_leave_open(language_id, source, max_open):
    canvas = drawn_hole(source, language_id).canvas()
    assert canvas.max_open == max_open
    is_statement = max_open is not None and language_id != "plaintext"
    assert canvas.max_tokens == (128 if canvas.kind == "block" else 96 if is_statement else 48)


def test_brackets_of_a_long_text_are_not_counted():
    assert drawn_hole("x = 1\n" * 20_000 + "y = ║\n").canvas().max_open is None


@pytest.mark.timeout(60)
@pytest.mark.parametrize("mark", [")", "} ", "end"])
def test_a_line_of_a_megabyte_takes_no_minutes(mark):
    """A pattern of quadratic time would take more than an hour for the first of these lines."""
    line = mark * 1_000_000 + "x"
    assert not _CLOSING_ONLY.fullmatch(line)
    (stop,) = drawn_hole(f"def f():\n    ║\n\nx{line}\n").canvas().stop
    assert stop == f"\nx{line}"[:MAX_STOP_CHARS]
    assert drawn_hole(f"def f():\n    ║\n{line}\n").canvas().min_indent == 4
    assert drawn_hole(f"function f() {{\n  a();\n║║\n{line}\n").canvas().max_tokens


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        *((line, False) for line in ("});", "  end)", "))fi;", "esac", "]]]")),
        *((line, True) for line in ("return", "end()x", "ends", "end end", ")]x", "}else")),
    ],
)
def test_a_line_of_closing_marks_is_not_specific(line, expected):
    assert is_specific(line) is expected
