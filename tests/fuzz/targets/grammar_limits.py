"""Texts just within the bounds of grammars that are known to crash: Ruby, YAML and Python.

What nests is built up to where ``is_beyond_grammar`` refuses it, and then changed. A crash ends
the process.
"""

from harness.byte_reader import ByteReader
from harness.target import Target

from intarsia.infill.languages import Language, language_for_id
from intarsia.infill.syntax.parse import parse_afresh, parse_edited
from intarsia.infill.syntax.parser_limits import is_beyond_grammar

RUBY = ("<<A", '<<~"long name"', "<<-'b", "<<`c\n", '"#{', "%w[#{", "\n", "A\n", '"', "}", " ")
RUBY += (
    "<<" + "N" * 120,
    '<<"' + "m" * 200 + '"',
    "/#{",
    ":'",
    "%q(",
    "=begin\n",
    "def a\n",
    "end\n",
)
YAML = ("- ", "? ", ": ", "a: ", "\n", "\n ", "\n  ", "|\n", ">-\n", "&a ", "{", "[", ",", "]", "}")
YAML += ("!!x ", '"', "'", "# c", "---\n", "\t", "- - - - ", "? ? ? ")
PYTHON = (
    "if x:\n",
    '"""',
    "'''",
    'f"{',
    "'",
    '"',
    "\n",
    "\\\n",
    "(",
    ")",
    "}",
    "x = ",
    "#",
    "\x0c",
)
PYTHON += ("while 1:\n", 'f"""{', "b'", "r'''", "\t", "else:\n")
MOST_REPEATS = 400


def check(data: bytes) -> None:
    """Parse a text of many nested parts, and the text after a change."""
    reader = ByteReader(data)
    name, pieces = reader.pick((("ruby", RUBY), ("yaml", YAML), ("python", PYTHON)))
    language = language_for_id(name)
    text = _within(_python(reader) if name == "python" else _nested(reader, pieces), language)
    text += reader.pieces(pieces, 12)
    syntax = parse_afresh(text, language)
    if syntax is not None:
        start, end = sorted((reader.byte() << 4) % (len(text) + 1) for _ in range(2))
        parse_edited(syntax, start, end, reader.pieces(pieces, 6))


def _nested(reader: ByteReader, pieces: tuple[str, ...]) -> str:
    """Return runs of repeated pieces."""
    runs = []
    for _ in range(1 + reader.byte() % 4):
        unit = reader.pieces(pieces, 4)
        runs.append(unit * (reader.byte() * MOST_REPEATS // 255))
    return "".join(runs)


def _python(reader: ByteReader) -> str:
    """Return blocks that are each deeper than the one around them, by blanks or tabs."""
    depth, blank = reader.byte() * 2, reader.pick((" ", "\t", " \t", "  "))
    blocks = "".join(blank * level + "if x:\n" for level in range(depth))
    return blocks + blank * depth + _nested(reader, PYTHON)[:4_000]


def _within(text: str, language: Language) -> str:
    """Return the longest beginning that is parsed, by bisection."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if is_beyond_grammar(text[:middle], language):
            high = middle - 1
        else:
            low = middle
    return text[:low]


TARGET = Target(
    about="Ruby, YAML and Python just within the bounds of their grammars",
    check=check,
    seeds=[
        b"\x00\x00\x01\x04\xff\x05\x06\x07\x08" + bytes(20),
        b"\x00\x03\x01\x0b\x40\x01\x04\xff\x02\x00\x06\xff" + bytes(20),
        b"\x01\x01\x01\x00\xc8\x02\x00\x05\x30\x10" + bytes(20),
        b"\x01\x02\x02\x15\x06\x60\x01\x16\x80" + bytes(20),
        b"\x02\xaf\x00\x01\x01\x03\xff\x03\x01\x02\x03" + bytes(20),
        b"\x02\xff\x01\x02\x02\x01\x04\x80" + bytes(20),
    ],
    watched=["intarsia.infill.syntax"],
    weight=1,
    max_bytes=96,
)
