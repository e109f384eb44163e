"""Signatures of one file as a stub of it, in the form of its language."""

import pytest

from intarsia.infill.languages import language_for_id
from intarsia.workspace.context.stub import LineLimits, Stub, qualified_name
from intarsia.workspace.symbols.extract import extract_symbols

CASES = [
    (
        "python",
        "class A(B):\n    x: int = 1\n    @property\n    def f(self): return 1\n    class C:\n"
        "        def g(self): pass\n\ndef h(): pass\n",
        ["A.f", "A.C.g", "h"],
        "class A(B):\n    @property\n    def f(self): ...\n    class C:\n"
        "        def g(self): ...\ndef h(): ...",
    ),
    (
        "python",
        "class A:\n    def __init__(self):\n        self.x = 1\n\nclass B: pass\n",
        ["A.x", "B"],
        "class A:\n    x = 1\nclass B: ...",
    ),
    (
        "typescript",
        "export interface A extends B {\n  x: number;\n  f(): void;\n}\nclass C {}\n",
        ["A.x", "A.f", "C"],
        "interface A extends B {\n  x: number\n  f(): void;\n}\nclass C {}",
    ),
    (
        "typescript",
        "class C { f() { return 1; } }\n",
        ["C"],
        "class C { ... }",
    ),
    (
        "rust",
        "pub struct A { pub x: i32 }\nimpl A { pub fn f(&self) -> i32 { 1 } }\n"
        "pub trait T { fn g(&self); }\n",
        ["A.x", "A.f", "T.g"],
        "pub struct A {\n    pub x: i32\n}\nimpl A {\n    pub fn f(&self) -> i32;\n}\n"
        "pub trait T {\n    fn g(&self);\n}",
    ),
    (
        "go",
        "package a\n\ntype A struct {\n\tX int\n}\n\nfunc (a *A) F() int { return 1 }\n",
        ["A.F"],
        "func (a *A) F() int",
    ),
    (
        "java",
        "public class A extends B {\n  int x = 1;\n  public int f() { return 1; }\n}\n",
        ["A.f"],
        "public class A extends B {\n    public int f();\n}",
    ),
    (
        "ruby",
        "class A < B\n  def f(x)\n    1\n  end\nend\n",
        ["A.f"],
        "class A < B\n  def f(x)\nend",
    ),
]


@pytest.mark.parametrize(("language", "text", "names", "written"), CASES)
def test_a_stub_is_written_as_its_language_is(
    language: str, text: str, names: list[str], written: str
) -> None:
    row = language_for_id(language)
    definitions = extract_symbols(text, row).definitions
    stub = Stub(definitions, row, LineLimits())
    for name in reversed(names):  # the order of the file counts, not that of adding
        definition = next(one for one in definitions if qualified_name(one) == name)
        cost = stub.cost_with(definition)
        stub.add(definition)
        assert len(stub.text()) == cost
    assert stub.text() == written


def test_a_long_signature_keeps_its_first_parameters_and_what_it_returns() -> None:
    row = language_for_id("python")
    parameters = ", ".join(f"parameter_{number}: int" for number in range(12))
    (one,) = extract_symbols(f"def f({parameters}) -> User:\n    pass\n", row).definitions
    line = Stub((one,), row, LineLimits(signature=80)).line(one)
    assert line.startswith("def f(parameter_0: int, parameter_1: int, ")
    assert line.endswith(", ...) -> User: ...")
    assert len(line) <= 80 + len(": ...")
