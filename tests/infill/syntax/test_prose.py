"""Comments, documentation and strings are told from code, also while they are being written."""

import pytest

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.tree import parse, prose_at

CASES: dict[str | None, list[tuple[str, str]]] = {
    None: [
        ("python", "x = |\n"),
        ("python", 'x = "a" + |\n'),
        ("python", "x = 1  # done\n|"),
        ("python", "# done\n|\n"),
        ("python", 'f"{a|}"\n'),
        ("python", 'f"{|}"\n'),
        ("python", "x = '\"' + |\n"),
        ("javascript", "let a = `${b|}`;\n"),
        ("javascript", "/* done */ |\n"),
        ("rust", "fn first<'a|>(x: &'a str) {}\n"),
        ("json", '{"name": "|"}'),
        ("yaml", 'name: "|"\n'),
        ("html", '<a href="|"></a>\n'),
        ("plaintext", "# any text |\n"),
        ("c", "x = a\n  * b|;\n"),
        ("c", "f(/* a */ b|\n"),
        ("javascript", 'f("from /* on", a|\n'),
        ("swift", 'let a = "\\(b): \\(|)"\n'),
        ("kotlin", 'val a = "${|}"\n'),
        ("python", "x = f\"{a['|']}\"\n"),
        ("python", "x = row['|']\n"),
        ("typescript", "import a from './|'\n"),
        ("javascript", "const a = require('|');\n"),
        ("zig", 'const a = @import("|");\n'),
        ("php", "<?php\n$a = [\n    '|' => 1,\n];\n"),
        ("python", "x = {'a': 1, 'b|': 2}\n"),
        ("go", 'switch x {\ncase "|":\n}\n'),
        ("go", 'type A struct {\n\tB string `json:"b" xml:"|"`\n}\n'),
        ("c", 'const char *a[] = {\n    "red",\n    "|"\n};\n'),
        ("shellscript", 'gzip "$|"\n'),
        ("php", '<?php echo "Hello $na|";\n'),
    ],
    "comment": [
        ("python", "x = 1  # a remark|\n"),
        ("python", "#|\n"),
        ("python", "# |"),
        ("python", 'def f():\n    """Return |"""\n'),
        ("python", 'def f():\n    """Return\n    the |\n    """\n'),
        ("javascript", "/* a |remark */\nf();\n"),
        ("javascript", "/**\n * Returns |\n */\nfunction f() {}\n"),
        ("go", "// Add returns|\nfunc Add() {}\n"),
        ("rust", "/// Returns\n/// |\nfn f() {}\n"),
        ("lua", "-- a remark|\nx = 1\n"),
        ("lua", "--[[ a remark|\nx = 1\n"),
        ("html", "<p>a</p>\n<!-- a\n remark| -->\n"),
        ("c", "f(/* a */ b, /* a remark|\n"),
        ("html", "<!-- a remark|\n<p>a</p>\n"),
        ("yaml", "a: 1  # a remark|\n"),
        ("css", "a { b: c }  /* a remark| */\n"),
        ("typescript", "/**\n * a\n * remark|\nfunction f() {}\n"),
    ],
    "documentation": [
        ("python", 'def f():\n    """|\n    return 1\n'),
        ("python", 'def f():\n    """|"""\n    return 1\n'),
        ("python", "class A:\n    r'''|'''\n"),
        ("javascript", "/** |\n */\nfunction f() {}\n"),
        ("javascript", "/** |\nfunction f() {}\n"),
        ("java", "class A {\n    /**\n     * |\n     */\n    void f() {}\n}\n"),
        ("rust", "/// |\nfn f() {}\n"),
        ("lua", "--- |\nfunction f() end\n"),
    ],
    "string": [
        ("python", 'x = "|"\n'),
        ("python", 'x = "a|b"\n'),
        ("python", 'print("hel|\ny = 2\n'),
        ("python", "x = 'don|\n"),
        ("python", 'x = f"a {b} c|"\n'),
        ("javascript", 'let a = "fo|\nlet b = 1\n'),
        ("go", 'x := "a|"\n'),
        ("rust", 'let a = "b|";\n'),
        ("c", 'puts("it costs $|");\n'),
        ("javascript", "a('so it is', '|');\n"),
        ("python", "x = ['|']\n"),
        ("javascript", "a(b ? '|' : 'c');\n"),
        ("python", 'warn("import of (|)")\n'),
    ],
}


@pytest.mark.parametrize(
    ("kind", "language", "marked"),
    [(kind, *case) for kind, cases in CASES.items() for case in cases],
)
def test_prose_is_told_also_before_it_is_closed(kind, language, marked):
    """A docstring with words is a comment; documentation without a word has just begun."""
    offset = marked.index("|")
    text = marked[:offset] + marked[offset + 1 :]
    assert prose_at(parse(text, language_for_id(language)), offset) == kind
