"""What a chunk of code is made from: words around the hole, types of names, stubs of files."""

import pytest
from context_places import HOLE, place_in

from intarsia.infill.languages import language_for_id
from intarsia.workspace.context.neighbourhood import NUM_LINES_ABOVE, neighbourhood_of
from intarsia.workspace.context.receiver import bare_type, declared_type
from intarsia.workspace.context.stub import MAX_SIGNATURE_CHARS, Stub, qualified_name
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.words import words_of

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
    ("typescript", "class C { f() { return 1; } }\n", ["C"], "class C { ... }"),
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
def test_a_stub_is_written_as_its_language_is(language, text, names, written):
    row = language_for_id(language)
    definitions = extract_symbols(text, row).definitions
    stub = Stub(definitions, row)
    for name in reversed(names):  # the order of the file counts, not that of adding
        definition = next(one for one in definitions if qualified_name(one) == name)
        cost = stub.cost_with(definition)
        stub.add(definition)
        assert len(stub.text()) == cost
    assert stub.text() == written


def test_a_long_signature_keeps_its_first_parameters_and_what_it_returns() -> None:
    row = language_for_id("python")
    parameters = ", ".join(f"parameter_{number}: int" for number in range(14))
    (one,) = extract_symbols(f"def f({parameters}) -> User:\n    pass\n", row).definitions
    line = Stub((one,), row).line(one)
    assert line.startswith("def f(parameter_0: int, parameter_1: int, ")
    assert line.endswith(", ...) -> User: ...")
    assert len(line) <= MAX_SIGNATURE_CHARS + len(": ...")


def test_nearer_lines_weigh_more_above_and_below() -> None:
    text = f"far_name\n\n\n\nnear_name\n\n{HOLE}\n\nbelow_name\n\n\nfar_below\n"
    mentions = neighbourhood_of(place_in("a.py", text)).mentions
    assert mentions["near_name"] > mentions["far_name"] > 0
    assert mentions["below_name"] > mentions["far_below"] > 0


def test_lines_too_far_away_do_not_count() -> None:
    text = "far_name\n" + "\n" * (NUM_LINES_ABOVE + 1) + f"x{HOLE}\n"
    assert "far_name" not in neighbourhood_of(place_in("a.py", text)).mentions


def test_identifiers_are_compared_by_their_words() -> None:
    text = f"parseHttpHeaders({HOLE})\n"
    assert set(neighbourhood_of(place_in("a.ts", text)).words) >= set(words_of("parse_http_header"))


@pytest.mark.parametrize(
    ("line", "receiver"),
    [
        (f"user.{HOLE}", "user"),
        (f"user.na{HOLE}", "user"),
        (f"x = self.client.user.{HOLE}", "self.client.user"),
        (f"this.user?.{HOLE}", "this.user"),
        (f"user->{HOLE}", "user"),
        (f"User::{HOLE}", "User"),
        (f"super().{HOLE}", "super()"),
        (f"find(user).{HOLE}", ""),
        (f"user{HOLE}", ""),
        (f"1.{HOLE}", ""),
        (f"user.\n{HOLE}", ""),
    ],
)
def test_the_receiver_at_the_hole(line: str, receiver: str) -> None:
    assert neighbourhood_of(place_in("a.ts", line)).receiver == receiver


def test_the_line_of_the_hole() -> None:
    assert neighbourhood_of(place_in("a.py", f"a\r\nb\r\n{HOLE}")).line == 2


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("User", "User"),
        ("'User'", "User"),
        ("Optional[User]", "User"),
        ("User | None", "User"),
        ("User?", "User"),
        ("&mut User", "User"),
        ("*store.User", "store.User"),
        ("Arc<User>", "User"),
        ("std::unique_ptr<User>", "User"),
        ("User | undefined", "User"),
        ("list[User]", ""),
        ("User | Group", ""),
        ("", ""),
        ("None", ""),
    ],
)
def test_the_name_in_a_written_type(written: str, name: str) -> None:
    assert bare_type(written) == name


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("python", "def f(user: User, x):\n", "User"),
        ("python", "user = User(1)\n", "User()"),
        ("python", "user = await load(1)\n", "load()"),
        ("python", "with open_session(x) as user:\n", "open_session()"),
        ("python", "user: Group\nuser = User(1)\n", "User()"),
        ("python", "superuser = User(1)\nself.user = Group()\n", ""),
        ("python", "for user in users:\n", ""),
        ("typescript", "const user: User = x;\n", "User"),
        ("typescript", "const user = new User(x);\n", "User()"),
        ("typescript", "function f(user?: User) {\n", "User"),
        ("go", "func f(user *store.User) {\n", "store.User"),
        ("go", "user := &User{}\n", "User()"),
        ("go", "user := store.NewUser(x)\n", "store.NewUser()"),
        ("rust", "fn f(user: &User) {\n", "User"),
        ("rust", "let user = User::new();\n", "User"),
        ("java", "User user = find(x);\n", "find()"),
        ("java", "void f(User user) {\n", "User"),
        ("csharp", "foreach (User user in x)\n", ""),
    ],
)
def test_the_nearest_declaration_tells(language: str, text: str, found: str) -> None:
    assert declared_type("user", text, language_for_id(language)) == found


@pytest.mark.timeout(10)
def test_long_odd_text_takes_no_time() -> None:
    text = "user: " + "A[" * 5_000 + "user = " + "a." * 5_000 + "user " * 2_000
    declared_type("user", text, language_for_id("python"))
    bare_type("Optional[" * 2_000 + "User" + "]" * 2_000)
