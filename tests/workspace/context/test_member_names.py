"""All names that may follow a dot: known where a type is read whole, else none are told."""

import pytest
from context_places import HOLE, place_in, workspace

from intarsia.workspace.context.member_names import member_names

PYTHON = """\
import enum
from abc import ABC
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar
from pydantic import BaseModel

T = TypeVar("T")

class Base(ABC, Generic[T], metaclass=ABCMeta):
    kept: int = 0
    def close(self): self.ended = True

@dataclass(frozen=True)
class User(Base[str]):
    name: str
    boss: "User | None" = None

class Colour(enum.StrEnum):
    RED = "red"

class Row(BaseModel):
    one: int

class Any_(Base):
    def __getattr__(self, name): ...

@table
class Made(Base):
    two: int

class Pair(namedtuple("Pair", "a b")):
    three: int

class Kept(Protocol):
    four: int

def make() -> User: ...
"""
TYPESCRIPT = """\
export interface Base { close(): void }
export interface User extends Base { name: string; boss?: User }
export class Store<T> extends Base2 {
  private a = 1; constructor(readonly host: string) { super() }
}
export abstract class Base2 { #b = 2; get c() { return 3 } }
export type Options = { deep: { d: number }; e: string };
export interface Keyed { h: number; [key: string]: number }
export type Both = { f: string } & Options;
export class Free extends mixin(Base2) { g = 1 }
"""


def names_at(code: str, path: str = "main.py") -> set[str]:
    """Return the names after ``code``, without those that all classes have."""
    head = {
        "main.py": "from lib import User, Colour, Row, Any_, Made, Pair, Kept, make\n",
        "main.ts": 'import { User, Store, Options, Both, Free, Keyed } from "./lib";\n',
    }
    files = {"lib.py": PYTHON, "lib.ts": TYPESCRIPT, path: f"{head[path]}{code}{HOLE}\n"}
    place = place_in(path, files[path])
    members_of = place.language.library_members
    assert members_of is not None
    found = {it for it in member_names(workspace(files), place) if not it.startswith("__")}
    return found - {*(members_of("") or ())}


USER = {"name", "boss", "kept", "close", "ended"}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(user: User): return user.", USER),
        ("def f(user: User): return user.na", USER),
        ("def f(user: User | None): return user.boss.", USER),
        ("user = make()\nuser.", USER),
        ("def f(it: Kept): it.", {"four"}),
        ("def f(it: Row): it.", set()),
        ("def f(it: Any_): it.", set()),
        ("def f(it: Made): it.", set()),
        ("def f(it: Pair): it.", set()),
        ("def f(user: User):\n    if isinstance(user, Staff): user.", set()),
        ("def f(user: User): ...\ndef g(user: dict[str, int]): user.", set()),
        ("def f(user: User): ...\ndef g(user): user.", set()),
        ("def f(user: User):\n    for user in user.all(): user.", set()),
        ("user = make()\nuser = other\nuser.", set()),
        ("class Own(Kept):\n    def f(self): self.", set()),
        ("nobody.", set()),
    ],
)
def test_python(code: str, names: set[str]):
    assert names_at(code) == names


def test_the_members_of_an_enum_are_those_of_its_base_too():
    assert {"RED", "value", "upper"} <= names_at("Colour.")


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("function f(user: User) { user.", {"boss", "close"}),
        ("function f(user: User) { user?.bo", {"boss", "close"}),
        ("const f = (it: Options) => it.", {"deep", "e"}),
        ("const f = (it: Both) => it.", set()),
        ("const f = (it: Options & { f: string }) => it.", set()),
        ("const f = (it:\n  | Options\n  | { f: string }) => it.", set()),
        ("const f = (it: Options[]) => it.", set()),
        ("const f = (it: Keyed) => it.", set()),
        ("const f = (it: Free) => it.", set()),
        ("const f = (it: User | string) => it.", set()),
        ("class A { constructor(private it: User) {}\n f(it: string) { it.", set()),
        ("function f(it: User) { if (it instanceof B) it.", set()),
    ],
)
def test_typescript(code: str, names: set[str]):
    assert names_at(code, "main.ts") == names


def test_a_class_with_private_members_and_parameters_that_are_members():
    found = names_at("const f = (it: Store) => it.", "main.ts")
    assert {"a", "host", "c"} <= found
