"""What a local rule tells about the type of a name."""

import pytest

from intarsia.infill.languages import language_for_id
from intarsia.workspace.context.receiver_type import bare_type, declared_type


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
