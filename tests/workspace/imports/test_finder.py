"""Which import a name needs in small projects; strings of hostile files never become code."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memory_index import memory_index

from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import shown
from intarsia.infill.imports.unbound import unbound_names
from intarsia.infill.languages import language_for_path
from intarsia.infill.replacement import with_replaced
from intarsia.infill.syntax.text import first_hidden
from intarsia.workspace.imports.finder import ImportFinder

CASES = tomllib.loads((Path(__file__).parent / "finder.toml").read_text(encoding="utf-8"))["case"]


def found(case: dict[str, Any]) -> list[str]:
    """Return the import that each unbound name of the case's file needs, or why there is none."""
    texts = {f"/p/{path}": text for path, text in case["files"].items()}
    path = f"/p/{case['path']}"
    language, text = language_for_path(path), case["text"]
    finder = ImportFinder(memory_index(texts, ["/p"]), path, text, language)
    needed = [finder.find(it) for it in unbound_names(text, 0, len(text), language)]
    return [shown(it.binding, language) if it.binding else f"- {it.reason}" for it in needed]


@pytest.mark.parametrize("case", CASES, ids=[f"{it['path']}-{it['name']}" for it in CASES])
def test_case(case: dict[str, Any]) -> None:
    assert found(case) == case["needs"]


ENDS = ["\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]
MODULES = [
    'm"; evil(); "',
    "m'; evil(); '",
    "m`; evil(); `",
    *(f'm"{end}evil(){end}"' for end in ENDS),
    *(f"m{end}evil()" for end in ENDS),
    'm\\"; evil(); //',
    "m\\",
    "m${evil()}",
    "m/*evil*/",
    "m//evil();",
    "m evil",
    "m;evil()",
    "m\u202eevil",
    "m\u200bevil",
    "m\x1b[2Jevil",
    "evil" * 60,
]
QUOTES = ['"', "'", "`"]
ECMASCRIPT = [
    "import {{ evilName }} from {};\n",
    "import evilName from {};\n",
    "import * as evilName from {};\n",
    "import type {{ evilName }} from {};\n",
    "import {{ {} as evilName }} from 'm';\n",
    "export {{ {} as evilName }} from 'm';\n",
    "import evilName = require({});\n",
    "const evilName = require({});\n",
    "const {{ evilName }} = require({});\n",
    "const {{ {}: evilName }} = require('m');\n",
    "const evilName = await import({});\n",
    "import evilName from {} with {{ type: 'json' }};\n",
]
OTHERS = {
    "go": ["package a\n\nimport evilName {}\n", "package a\n\nimport (\n\tevilName {}\n)\n"],
    "py": ["from {} import evilName\n", "evilName = __import__({})\n", "import {} as evilName\n"],
    "java": ["import {}.evilName;\n", "import static {}.evilName;\n"],
    "rs": ["use {}::evilName;\n", "#[path = {}] mod evilName;\n", "extern crate {} as evilName;\n"],
}
USES = {
    "go": "package p\n\nfunc f() { evilName.Do() }\n",
    "java": "class C { Object o = evilName.make(); }\n",
    "rs": "fn f() { evilName::make() }\n",
}
ENDINGS = ["js", "tsx", *OTHERS]


def hostile_files(ending: str) -> Iterator[str]:
    for form in OTHERS.get(ending, ECMASCRIPT):
        for module in MODULES:
            yield form.format(module)
            for quote in QUOTES:
                yield form.format(quote + module + quote)


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_of_a_hostile_file_is_added_or_shown(ending: str) -> None:
    path, text = f"/p/use.{ending}", USES.get(ending, "evilName(1)\n")
    language = language_for_path(path)
    names = unbound_names(text, 0, len(text), language)
    assert [it.name for it in names] == ["evilName"]
    for hostile in hostile_files(ending):
        index = memory_index({path: text, f"/p/a/h.{ending}": hostile}, ["/p"])
        binding = ImportFinder(index, path, text, language).find(names[0]).binding
        if binding is None:
            continue
        title = shown(binding, language)
        added = with_replaced(text, import_edits(text, [binding], 0, language))
        lines = set(added.split("\n")) - set(text.split("\n"))
        assert len(lines) <= 1, ascii(hostile)
        for seen in (title, *lines):
            assert first_hidden(seen) is None, ascii(hostile)
            assert "evil()" not in seen and "evil;" not in seen, ascii(hostile)
            assert len(seen) < 120, ascii(hostile)
