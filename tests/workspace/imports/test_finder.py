"""Which import a name needs, by the files of small projects drawn in memory."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from memory_index import MemoryIndex

from intarsia.infill.imports.binding import LANGUAGE_IDS
from intarsia.infill.imports.shown import shown
from intarsia.infill.imports.unbound import unbound_names
from intarsia.infill.languages import language_for_path
from intarsia.workspace.imports.finder import ImportFinder

CASES = tomllib.loads((Path(__file__).parent / "finder.toml").read_text(encoding="utf-8"))["case"]


def found(case: dict[str, Any]) -> list[str]:
    """Return the import that each unbound name of the case's file needs, or why there is none."""
    texts = {f"/p/{path}": text for path, text in case["files"].items()}
    path = f"/p/{case['path']}"
    language, text = language_for_path(path), case["text"]
    finder = ImportFinder(MemoryIndex(texts, ["/p"]), path, text, language)
    needed = [finder.find(it) for it in unbound_names(text, 0, len(text), language)]
    return [shown(it.binding, language.id) if it.binding else f"- {it.reason}" for it in needed]


@pytest.mark.parametrize("case", CASES, ids=[f"{it['path']}-{it['name']}" for it in CASES])
def test_case(case: dict[str, Any]) -> None:
    assert found(case) == case["needs"]


def test_the_cases_cover_the_languages() -> None:
    assert {language_for_path(it["path"]).id for it in CASES} >= {
        *LANGUAGE_IDS[:2],
        *LANGUAGE_IDS[3:4],
        *LANGUAGE_IDS[5:],
    }
