"""Where an import goes and how it is written; which names inserted code needs one for."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import ImportBinding
from intarsia.infill.imports.unbound import MAX_CHARS, unbound_names
from intarsia.infill.languages import language_for_id
from intarsia.infill.replacement import with_replaced
from intarsia.infill.syntax.tree import num_errors, parse_afresh

CASES = tomllib.loads((Path(__file__).parent / "add_imports.toml").read_text(encoding="utf-8"))[
    "case"
]
NAMES = ("alpha", "Beta", "GAMMA", "delta_x", "z")
MODULES = {
    "python": ("os", "a.b", ".c", "numpy"),
    "typescript": ("./a", "fs", "@x/y", "../b.js"),
    "go": ("os", "net/http", "x.com/a/b"),
    "java": ("java.util", "org.a.b"),
    "rust": ("std::io", "crate::a", "serde"),
}
LINES = {
    "python": "from {module} import {name}\n",
    "typescript": 'import {{ {name} }} from "{module}";\n',
    "java": "import {module}.{name};\n",
    "rust": "use {module}::{name};\n",
}
HEADS = {"go": "package p\n\n", "java": "package p;\n\n"}
CODE = {
    "python": "\n\ndef f():\n    pass\n",
    "typescript": "\nfunction f() {}\n",
    "go": "\nfunc f() {}\n",
    "java": "\nclass C {}\n",
    "rust": "\nfn f() {}\n",
}


def binding_of(text: str) -> ImportBinding:
    module, name, local, form = (*text.split("|"), "", "", "")[:4]
    return ImportBinding(
        module=module, name=name, local=local or name or module, form=form or "plain"
    )


def added(text: str, bindings: list[ImportBinding], language_id: str, at: int) -> str:
    return with_replaced(text, import_edits(text, bindings, at, language_for_id(language_id)))


@pytest.mark.parametrize("case", CASES, ids=[f"{it['language']}-{it['name']}" for it in CASES])
def test_case(case: dict[str, Any]) -> None:
    bindings = [binding_of(it) for it in case["imports"]]
    before, at = case["before"], case.get("at", len(case["before"]) - 1)
    after = added(before, bindings, case["language"], at)
    assert after == case["after"]
    moved = at + len(after) - len(before)
    assert added(after, bindings, case["language"], moved) == after


@pytest.mark.parametrize("language_id", MODULES)
@given(data=st.data())
def test_any_import_parses_is_added_once_and_leaves_other_lines(language_id, data):
    modules = st.sampled_from(MODULES[language_id])
    present = data.draw(st.lists(st.tuples(modules, st.sampled_from(NAMES[1:])), max_size=4))
    blank = data.draw(st.lists(st.booleans(), min_size=4, max_size=4))
    line = LINES.get(language_id, 'import "{module}"\n')
    block = "".join(
        line.format(module=module, name=name) + "\n" * is_apart
        for (module, name), is_apart in zip(present, blank, strict=False)
    )
    text = HEADS.get(language_id, "") + block + CODE[language_id]
    binding = ImportBinding(
        module=data.draw(modules), name="" if language_id == "go" else "alpha", local="alpha"
    )
    after = added(text, [binding], language_id, len(text) - 2)
    assert "alpha" in after
    assert added(after, [binding], language_id, len(after) - 2) == after
    language = language_for_id(language_id)
    old, new = parse_afresh(text, language), parse_afresh(after, language)
    assert old is not None and new is not None
    assert num_errors(new) <= num_errors(old)
    kept = [it for it in text.splitlines() if not it.startswith(("import", "from", "use")) and it]
    rest = iter(after.splitlines())
    assert all(any(it == other for other in rest) for it in kept)
    assert after.endswith(CODE[language_id])


def test_a_file_without_a_place_gets_nothing() -> None:
    language = language_for_id("go")
    assert import_edits("x", [binding_of("os||os")], 0, language) == ()


USES = tomllib.loads((Path(__file__).parent / "unbound.toml").read_text(encoding="utf-8"))["case"]


@pytest.mark.parametrize("case", USES, ids=[f"{it['language']}-{it['name']}" for it in USES])
def test_unbound_names(case: dict[str, str]) -> None:
    before, inserted, after = case["source"].replace("»", "«").split("«")
    language = language_for_id(case["language"])
    text = before + inserted + after
    found = unbound_names(text, len(before), len(before) + len(inserted), language)
    assert " ".join(".".join(it.path) for it in found) == case["unbound"]


def test_a_name_that_is_only_a_type_is_told() -> None:
    language = language_for_id("typescript")
    text = "const a: Foo = make();\n"
    found = {it.name: it.is_type for it in unbound_names(text, 0, len(text), language)}
    assert found == {"Foo": True, "make": False}


def test_a_text_that_is_too_long_is_not_looked_at() -> None:
    text = "np.a\n" + "#" * MAX_CHARS
    assert unbound_names(text, 0, 4, language_for_id("python")) == ()


def test_other_languages_have_no_unbound_names_and_get_nothing() -> None:
    assert unbound_names("Foo.bar", 0, 7, language_for_id("ruby")) == ()
    assert import_edits("x", [binding_of("a|b")], 0, language_for_id("ruby")) == ()
