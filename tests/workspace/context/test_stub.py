"""What a chunk of code is made from: words around the hole, types of names, stubs of files."""

import tomllib
from pathlib import Path

import pytest
from context_places import HOLE, place_in

from intarsia.infill.languages import language_for_id
from intarsia.workspace.context.neighbourhood import NUM_LINES_ABOVE, neighbourhood_of
from intarsia.workspace.context.receiver import bare_type, declared_type
from intarsia.workspace.context.stub import MAX_SIGNATURE_CHARS, Stub, qualified_name
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.words import words_of

DRAWN = tomllib.loads(Path(__file__).with_name("stubs.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("language", "names", "text", "written"), [tuple(case.values()) for case in DRAWN["stub"]]
)
def test_a_stub_is_written_as_its_language_is(language, names, text, written):
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


@pytest.mark.parametrize(("language", "text", "found"), DRAWN["declared"]["cases"])
def test_the_nearest_declaration_tells(language: str, text: str, found: str) -> None:
    assert declared_type("user", text, language_for_id(language)) == found


@pytest.mark.timeout(10)
def test_long_odd_text_takes_no_time() -> None:
    text = "user: " + "A[" * 5_000 + "user = " + "a." * 5_000 + "user " * 2_000
    declared_type("user", text, language_for_id("python"))
    bare_type("Optional[" * 2_000 + "User" + "]" * 2_000)
