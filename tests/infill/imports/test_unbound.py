"""Which names inserted code uses that its file does not know, in drawn cases.

``«»`` are around the inserted text.
"""

import tomllib
from pathlib import Path

import pytest

from intarsia.infill.imports.unbound import MAX_CHARS, unbound_names
from intarsia.infill.languages import language_for_id

CASES = tomllib.loads((Path(__file__).parent / "unbound.toml").read_text(encoding="utf-8"))["case"]


@pytest.mark.parametrize("case", CASES, ids=[f"{it['language']}-{it['name']}" for it in CASES])
def test_case(case: dict[str, str]) -> None:
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


def test_other_languages_have_no_unbound_names() -> None:
    assert unbound_names("Foo.bar", 0, 7, language_for_id("ruby")) == ()
