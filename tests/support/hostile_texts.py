"""Texts that cost a parser, a pattern or a loop far more than code of the same length does.

Each row makes a text of about a given length. ``║`` is where a user's cursor is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

CURSOR = "║"


@dataclass(frozen=True, slots=True)
class Hostile:
    """A language, and what is repeated between the beginning and the end of the text."""

    language: str
    unit: str | Callable[[int], str]  # a function makes the whole middle for a length
    start: str = ""
    end: str = ""

    def text(self, num_chars: int) -> str:
        return self._drawn(num_chars).replace(CURSOR, "")

    def cursor(self, num_chars: int) -> int:
        """Return the cursor's offset; without a mark it is in the middle."""
        drawn = self._drawn(num_chars)
        return drawn.find(CURSOR) if CURSOR in drawn else len(drawn) // 2

    def _drawn(self, num_chars: int) -> str:
        if not isinstance(self.unit, str):
            return self.start + self.unit(num_chars) + self.end
        return self.start + self.unit * max(1, num_chars // len(self.unit)) + self.end


def _indented_ever_deeper(num_chars: int) -> str:
    depth = int((2 * num_chars) ** 0.5)
    return "".join(" " * level + "if x:\n" for level in range(depth))


def _mapped_ever_deeper(num_chars: int) -> str:
    depth = int((2 * num_chars) ** 0.5)
    return "".join(" " * level + "a:\n" for level in range(depth))


def _nested_tags(num_chars: int) -> str:
    depth = num_chars // 11
    return "<div>\n" * depth + "</div>" * depth


_BODY = "def f():\n    ║\n"

HOSTILE_TEXTS: Mapping[str, Hostile] = {
    # Nesting
    "open parentheses, a line each": Hostile("python", "(\n", start="x = ║"),
    "open parentheses on lines of 1,000": Hostile("python", "(" * 1_000 + "\n", start="x = ║"),
    "nested lists": Hostile("python", "[[", start="x = ║"),
    "nested calls in one line": Hostile("python", "f(", start="x = ║"),
    "not not not": Hostile("python", "not \n", start="x = (║\n"),
    "lambda lambda": Hostile("python", "lambda: \\\n", start="x = ║"),
    "ever deeper if": Hostile("python", _indented_ever_deeper),
    "ever deeper Scala": Hostile("scala", _indented_ever_deeper),
    "ever deeper YAML": Hostile("yaml", _mapped_ever_deeper),
    "interpolations of Scala": Hostile("scala", 's"${', start="val x = ║"),
    "interpolations of C#": Hostile("csharp", '$"{', start="class A { string x = ║"),
    "interpolations of Kotlin": Hostile("kotlin", '"${', start="val x = ║"),
    "interpolations of Swift": Hostile("swift", '"\\(', start="let x = ║"),
    "interpolations of Dart": Hostile("dart", '"${', start="var x = ║"),
    "interpolations of Elixir": Hostile("elixir", '"#{', start="x = ║"),
    "raw strings of C++": Hostile("cpp", 'R"a(\n', start="auto x = ║"),
    "raw strings of Rust": Hostile("rust", 'r#"\n', start="fn f() {║"),
    "heredocs of PHP": Hostile("php", "<<<A\n", start="<?php $x = ║"),
    "comments in comments": Hostile("rust", "/*\n", start="║"),
    "long brackets of Lua": Hostile("lua", "[=[\n", start="x = ║"),
    "unary minus": Hostile("javascript", "- \n", start="x = ║"),
    "open braces, a line each": Hostile("javascript", "{\n", start="║"),
    "functions in functions": Hostile("javascript", "function f() {\n", start="║"),
    "arrow after arrow": Hostile("typescript", "a =>\n", start="x = ║"),
    "ternary after ternary": Hostile("typescript", "a ? b :\n", start="x = ║"),
    "generic in generic": Hostile("typescript", "A<\n", start="let x: ║"),
    "template in template": Hostile("javascript", "`${\n", start="x = ║"),
    "nested blocks of C": Hostile("c", "{\n", start="int main() ║"),
    "pointers to pointers": Hostile("c", "*\n", start="int ║"),
    "else if after else if": Hostile("c", "if (x) {} else\n", start="int f() {║\n"),
    "nested #if": Hostile("c", "#if X\n", start="║"),
    "template brackets": Hostile("cpp", "A<\n", start="║"),
    "nested generics of Java": Hostile("java", "List<\n", start="class A { ║"),
    "nested tags": Hostile("html", _nested_tags, start="║"),
    "open tags": Hostile("html", "<a>\n", start="║"),
    "nested arrays": Hostile("json", "[\n", start="║"),
    "nested YAML": Hostile("yaml", "- \n", start="║"),
    "nested blocks of Rust": Hostile("rust", "{\n", start="fn f() ║"),
    "macros of Rust": Hostile("rust", "m!{\n", start="fn f() {║ "),
    "nested Go": Hostile("go", "func() {\n", start="package a\nvar x = ║"),
    "nested do of Ruby": Hostile("ruby", "a do\n", start="║"),
    "interpolations of Ruby": Hostile("ruby", '"#{', start="x = ║"),
    "nested quotes of a shell": Hostile("shellscript", '"$(\n', start="x=║"),
    "nested CSS": Hostile("css", "a {\n", start="║"),
    "nested PHP": Hostile("php", "if (1) {\n", start="<?php ║"),
    "nested C#": Hostile("csharp", "{\n", start="class A { void F() ║"),
    "nested Kotlin": Hostile("kotlin", "{\n", start="val x = ║"),
    "nested Swift": Hostile("swift", "{\n", start="let x = ║"),
    "nested Scala": Hostile("scala", "{\n", start="val x = ║"),
    "nested Dart": Hostile("dart", "{\n", start="main() ║"),
    "nested Zig": Hostile("zig", "{\n", start="fn f() void ║"),
    "nested Lua": Hostile("lua", "function f()\n", start="║"),
    "nested Elixir": Hostile("elixir", "fn ->\n", start="x = ║"),
    "nested SQL": Hostile("sql", "(select\n", start="select ║"),
    "nested TOML": Hostile("toml", "[", start="x = ║"),
    # Quotes
    "unclosed quotes on one line": Hostile("python", '"\\', start="x = ║"),
    "unclosed quotes, five lines": Hostile(
        "python", lambda n: ('"\\' * (n // 10) + "\n") * 5, start="x = ║"
    ),
    "single quotes in turn": Hostile("javascript", "'\"`", start="x = ║"),
    "unclosed backquotes": Hostile("shellscript", "`\\", start="x=║"),
    "triple quotes": Hostile("python", '"""\n', start="║"),
    "f-strings": Hostile("python", 'f"{', start="x = ║"),
    "open comments": Hostile("c", "/*\n", start="║"),
    # Lines
    "closing marks after a body": Hostile("python", ")", start=_BODY, end="x\n"),
    "closing marks and quotes": Hostile("python", ")]'\"`", start=_BODY, end=" end x\n"),
    "one long line": Hostile("python", "x + ", start="y = ║"),
    "a long identifier": Hostile("python", "abc_", start="y = ║"),
    "a long line below": Hostile("python", "x + ", start=_BODY),
    "a long line above": Hostile("python", "x + ", end="1\ny = ║\n"),
    "a long minified line": Hostile("javascript", "a(b,{c:d}),", start="║\n"),
    "many blank lines": Hostile("python", "\n", start="def f():\n║"),
    "many lines of blanks": Hostile("python", "    \n", start="def f():║\n", end="x"),
    "blanks alone": Hostile("python", " ", start="x =║", end="y"),
    "tabs alone": Hostile("go", "\t", start="func f() {║", end="y"),
    "CR alone": Hostile("python", "\r", start="def f():\r║"),
    "mixed line ends": Hostile("python", "x\r\ny\rz\n\r\n\r", start=_BODY),
    "deep indentation": Hostile("python", " " * 900 + "x\n", start="if x:\n║"),
    "comments above": Hostile("python", "# TODO: more\n", end="def f():\n    ║\n"),
    "decorators above": Hostile("python", "@a\n", end="def f():\n    ║\n"),
    "lines that go on": Hostile("python", "    -> x\n", start="def f(\n", end="):\n    ║\n"),
    "open lines above": Hostile("c", "int f(\n", end="a) {║\n}"),
    "words over and over": Hostile("python", "same text ", start="x = '║"),
    # Many small things
    "short functions": Hostile("python", "def f(): ...\n", start="║"),
    "functions of two lines": Hostile("python", "def f():\n    pass  # TODO\n", start="║"),
    "empty functions": Hostile("javascript", "function f() {}\n", start="║"),
    "todo macros": Hostile("rust", "fn f() { todo!() }\n", start="║"),
    "empty classes": Hostile("java", "class A { void f() {} }\n", start="║"),
    "imports": Hostile("python", "from a import b\n", start="║"),
    "imports above": Hostile("python", "from a import b\n", end="x = ║"),
    "imports that do not end": Hostile("typescript", "import a {\n", end="x = ║"),
    "one import of many names": Hostile("python", "b,\n", start="from a import (║"),
    "many exports": Hostile("typescript", "export const a = 1;\n", start="║"),
    "many semicolons": Hostile("javascript", ";", start="║"),
    "many strings": Hostile("python", "'a' ", start="x = (║"),
    "errors everywhere": Hostile("python", ") x = = (\n", start="║"),
    "macro calls": Hostile("cpp", "A(b) c\n", start="║"),
    "fences": Hostile("markdown", "```python\ndef f(): ...\n```\n", start="║"),
    "open fences": Hostile("markdown", "```python\n", start="║"),
    "fences in quotes": Hostile("markdown", "> ```python\n> x\n", start="║"),
    "nested quotes of Markdown": Hostile("markdown", ">", start="║"),
    "list marks": Hostile("markdown", "- ", start="║", end="```"),
    "numbers of lists": Hostile("markdown", "1. ", start="║", end="```"),
    "backquotes": Hostile("markdown", "`", start="║"),
    "emphasis": Hostile("markdown", "*_", start="║"),
    "brackets of links": Hostile("markdown", "[](", start="║"),
    # Characters
    "NUL": Hostile("python", "\0", start="x = ║"),
    "combining marks": Hostile("python", "\u0301", start="x = ║"),
    "combining marks in a name": Hostile("python", "e\u0301", start="x = ║"),
    "joined emoji": Hostile("python", "\U0001f468\u200d", start="x = '║"),
    "direction marks": Hostile("python", "\u202e\u2066a", start="x = '║"),
    "lone surrogates": Hostile("python", "\ud83d\n", start="x = ║"),
    "line separators": Hostile("python", "\u2028\x0c\x85", start="x = ║"),
    "replacement characters": Hostile("plaintext", "\ufffd", start="║"),
    "special tokens": Hostile("python", "<|", start="x = '║"),
    "assignments of a shell": Hostile("shellscript", "a=b ", start="║"),
    "heredocs": Hostile("shellscript", "cat <<EOF\n", start="║"),
    "heredocs of Ruby": Hostile("ruby", "<<A\n", start="║"),
    "variables of PHP": Hostile("php", "$", start="<?php ║"),
    "dots": Hostile("python", "a.", start="║"),
    "rows of signs": Hostile("python", "-=", start="# ║"),
}
