"""Cases of several kinds and languages: CRLF, half-typed words, astral characters, no hole."""

from intarsia_research.evaluation.case import Case, CaseKind


def case(
    prefix: str,
    truth: str = "",
    suffix: str = "\n",
    *,
    path: str = "case.py",
    language: str = "python",
    kind: CaseKind = "rest_of_line",
    name: str | None = None,
) -> Case:
    """Return a case; its id is its prefix where it has no name."""
    return Case(
        id=name or prefix,
        set="sample",
        kind=kind,
        language=language,
        path=path,
        group=name or prefix,
        prefix=prefix,
        truth=truth,
        suffix=suffix,
    )


SAMPLE = (
    case(
        "def add(left, right):\n    return ",
        "left + right",
        "\n\n\nprint(add(1, 2))\n",
        name="rest of line",
    ),
    case(
        "def total(values):\n    result = 0\n    for value in values:\n        result += va",
        "lue",
        "\n    return result\n",
        kind="inside_word",
        name="half a word",
    ),
    case(
        'def is_even(number):\n    """Tell whether a number is even."""\n    ',
        "return number % 2 == 0",
        "\n\n\nprint(is_even(4))\n",
        kind="block",
        name="body",
    ),
    case(
        "function add(left, right) {\r\n  ",
        "return left + right;",
        "\r\n}\r\n\r\nconsole.log(add(1, 2));\r\n",
        path="src/add up.js",
        language="javascript",
        kind="block",
        name="body with CRLF",
    ),
    case(
        "const total = prices.reduce((sum, price) => ",
        "sum + price",
        ", 0);\n",
        path="total.ts",
        language="typescript",
        kind="expression",
        name="expression",
    ),
    case(
        "package main\n\nfunc Max(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\t",
        "return b",
        "\n}\n",
        path="max.go",
        language="go",
        kind="line",
        name="line",
    ),
    case(
        'fn main() {\n    let name = "Ada";\n    println!(',
        '"Hello, {}!", name',
        ");\n}\n",
        path="main.rs",
        language="rust",
        kind="arguments",
        name="arguments",
    ),
    case(
        "class Account {\r\n    private int balance;\r\n\r\n"
        "    int getBalance() {\r\n        return bal",
        "ance;",
        "\r\n    }\r\n}\r\n",
        path="Account.java",
        language="java",
        kind="inside_word",
        name="half a word with CRLF",
    ),
    case(
        'FACES = {"𝒳": 1, "😀": "happy", "😢": ',
        '"sad"',
        "}\n",
        kind="expression",
        name="behind astral characters",
    ),
    case(
        "def greet(name)\n  ",
        'puts "Hello, #{name}!"',
        '\nend\n\ngreet("Ada")\n',
        path="greet.rb",
        language="plaintext",
        kind="block",
        name="language by the file's name",
    ),
    case("data = '\0'\nx = ", "1", "\n", name="binary"),
    case("", "x = 1", "\ufeffprint(x)\n", kind="line", name="before a byte order mark"),
    case("KEY = ", '"abc"', "\n", path="secrets/auth.json", language="python", name="secret"),
)
