"""What a replaced piece of code defined, and the rest of the file still uses."""

import pytest
from marked_text import read_marked

from intarsia.infill.imports.unbound import lost_name
from intarsia.infill.languages import language_for_id
from intarsia.infill.replacement import Replacement

MEAN = "def mean(xs):\n║    total = 0\n    for x in xs:\n        total += x║\n    return total\n"
OTHER = MEAN + "\n\ndef other(order):\n    total = order.total\n    return total\n"


@pytest.mark.parametrize(
    ("language", "text", "new", "lost"),
    [
        ("python", MEAN, "    32.0\n    for x in xs:\n        total += x", "total"),
        ("python", MEAN, "    subtotal = sum(xs)", "total"),
        ("python", OTHER, "    subtotal = sum(xs)", "total"),
        ("python", MEAN, "    total = sum(xs)", None),
        ("python", MEAN.replace("║\n    return total", "\n    return total║"), "    pass", None),
        ("python", "def a():\n    ║total = 1║\n\n\nprint(o.total)\n", "pass", None),
        ("python", "║import os║\nprint(os.sep)\n", "import sys", "os"),
        ("python", "with f as g:\n    ║text = g.read()║\nprint(text)\n", "g.read()", "text"),
        ("python", "class A:\n    ║def f(self): ...║\n\nA().f()\n", "def g(self): ...", "f"),
        ("python", "class A:\n    ║price: int║\n\ndef f(a):\n    a.price\n", "cost: int", "price"),
        ("python", "x = dict(\n    ║a=1║,\n)\nprint(x)\n", "b=1", None),
        ("javascript", "║const {a, b} = f();║\nuse(a);\n", "const {b} = f();", "a"),
        ("typescript", "interface P {\n  ║a: number;║\n}\nf(p.a);\n", "b: number;", "a"),
        ("go", "package m\n\nfunc f() int {\n\t║n := 0║\n\treturn n\n}\n", "m := 0", "n"),
        ("rust", "fn f() -> i32 {\n    ║let mut n = 0;║\n    n\n}\n", "let mut m = 0;", "n"),
        ("java", "class A {\n  ║int v() {║ return 1; }\n  int f() { v(); }\n}\n", "int w() {", "v"),
        ("c", "int f(int k) {\n  ║int n;║\n  n = n + k;\n  return n;\n}\n", "int m;", "n"),
        ("c", "int f(int k) {\n  ║int n = 1;║\n  n = k;\n  return n;\n}\n", "k++;", None),
        ("ruby", "def f\n  ║total = 1║\n  total\nend\n", "sum = 1", "total"),
        ("ruby", "def f\n  ║total = 1║\n  o.total # total\nend\n", "sum = 1", None),
        ("plaintext", "║total = 0║\nprint(total)\n", "sum = 0", "total"),
    ],
)
def test_the_name_is_found(language: str, text: str, new: str, lost: str | None) -> None:
    marked = read_marked(text)
    change = Replacement(start=marked.start, end=marked.end, new=new)
    assert lost_name(marked.text, change, language_for_id(language)) == lost
