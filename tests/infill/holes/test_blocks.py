import pytest
from marked_text import read_marked

from intarsia.infill.holes.hole import opened_block
from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.tree import parse


def check(language_id, source, columns):
    """``columns``: the header's indentation, or None where no block has been opened."""
    marked, language = read_marked(source), language_for_id(language_id)
    syntax = parse(marked.text, language)
    header = opened_block(marked.text, marked.start, language, syntax)
    assert (None if header is None else header.columns) == columns


@pytest.mark.parametrize(
    ("source", "columns"),
    [
        ("def f(x):║\n", 0),
        ("def f(x):\n║", 0),
        ("def f(x):\n\n    ║\n", 0),
        ("def f(x):  # why\n    ║\n", 0),
        ("def f(x):\n    # first\n    # second\n    ║\n", 0),
        ('def f(x):\n    """Say so."""\n    ║\n\nx = 1\n', 0),
        ('def f(x):\n    """Say\n    so.\n    """\n    ║\n', 0),
        ("    if x:\n        ║\n    y = 1\n", 4),
        ("def f(\n    x,\n):\n    ║\n", 0),
        ("    def f(\n        x: int = (1 +\n              2),\n    ) -> int:\n        ║\n", 4),
        ("if (a and\n        b):\n    ║\n", 0),
        ("async def f():║", 0),
        ("def f(x):\r\n    ║\r\n", 0),
        ("try:\n    ║\n", 0),
        ("\ufeffdef f(x):\n    ║\n", 0),
        ("    if x:\n        y()\n    with x as f:\n        ║\n", 4),
        ("x = (\ndef f():\n    ║\n", 0),
    ],
)
def test_python_header_opens_a_block(source, columns):
    check("python", source, columns)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    ║\n    return x\n",
        "def f(x):║\n    return x\n",
        "def f(x):\n    return x\n    ║\n",
        "x = {'if':\n    ║\n",
        "x = 'def f():║",
        "x = 1  # if a:\n    ║",
        "def f(x):\n\n\n\n    ║",
        "    def f(x):\n  ║\n",
        "x[1:\n    ║",
        '"""Module."""\n║\n',
        "║def f(): pass",
        "║",
    ],
)
def test_python_without_a_fresh_header_opens_none(source):
    check("python", source, None)


@pytest.mark.parametrize(
    ("language_id", "source", "columns"),
    [
        ("javascript", "function f() {║}", 0),
        ("javascript", "function f() {\n  ║\n}", 0),
        ("javascript", "a.then((x) => {\n  ║\n});", 0),
        ("javascript", "const x = {║};", None),
        ("javascript", "const x = {\n  ║\n};", 0),
        ("javascript", "import {║} from 'x';", None),
        ("javascript", "`${║}`", None),
        ("javascriptreact", "<div>\n  ║\n</div>", 0),
        ("typescriptreact", "return (\n  <ul className='a'>\n    ║\n  </ul>\n);", 2),
        ("java", "    void f()\n            throws E {\n        ║\n    }\n", 4),
        ("java", "class A {\n  int x; // {\n  ║\n}", None),
        ("javascript", "a\n    .b()\nconst f = () => {\n  ║\n}\n", 0),
        ("kotlin", "    a\n        .b()\n    with(x) {\n        ║\n    }\n", 4),
        ("kotlin", "    val x = a\n        .b()\n    override fun f() {\n        ║\n    }\n", 4),
        ("cpp", "  int f(int x)\n      const override {\n    ║\n  }\n", 2),
        ("cpp", "  int f(int x)\n      const\n  {\n    ║\n  }\n", 2),
        ("scala", "class A\n    extends B\n    with C {\n  ║\n}\n", 0),
        ("c", "int f(int a,\n      int b) {\n    ║\n}\n", 0),
        ("c", "void f()\n{\n    ║\n}\n", 0),
        ("cpp", "    for (auto x : y) {║\n", 4),
        ("cpp", "namespace a {\n║\nint x;\n}\n", None),
        ("csharp", "    public int F()\n    {\n        ║\n    }\n", 4),
        ("go", "func f() {\n\t║\n}\n", 0),
        ("go", "\tswitch x {\n\t║\n\t}\n", 8),
        ("go", "\tswitch x {\n\t║\n\tcase 1:\n\t}\n", None),
        (
            "rust",
            "impl A {\n    fn f(&self) -> u8\n    where\n        T: B,\n    {\n        ║\n",
            4,
        ),
        ("ruby", "def f(x)\n  ║\nend\n", 0),
        ("ruby", "def f(x)║\n", 0),
        ("ruby", "if x║\n", None),
        ("ruby", "if x\n  ║\nend\n", 0),
        ("ruby", "xs.each do |x|\n  ║\nend\n", 0),
        ("ruby", "def f = 1\n║\n", None),
        ("ruby", "if x then y end\n║\n", None),
        ("php", "<?php\nfunction f() {\n    ║\n}\n", 0),
        ("php", "<?php\nif ($x):\n    ║\nendif;\n", 0),
        ("shellscript", "if [ -f x ]; then\n  ║\nfi\n", 0),
        ("shellscript", "for x in a b; do\n  ║\ndone\n", 0),
        ("shellscript", "f() {\n  ║\n}\n", 0),
        ("html", "<div class='a'>\n  ║\n</div>", 0),
        ("html", "<br>\n║\n", None),
        ("html", "<p>║</p>", None),
        ("css", "a:hover {║}", 0),
        ("json", '{"a": [║]}', 0),
        ("json", '{\n  "a": {\n    ║\n  }\n}', 2),
        ("plaintext", "function f() {\n║", None),
    ],
)
def test_other_languages(language_id, source, columns):
    check(language_id, source, columns)
