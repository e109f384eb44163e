"""No text of another file becomes code: an import is made of plain names, and is one import."""

import tomllib
from pathlib import Path

import pytest

from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import MAX_CHARS, ImportBinding, ImportForm, is_plain
from intarsia.infill.imports.import_lines import adds_one_import
from intarsia.infill.languages import all_languages, language_for_id
from intarsia.infill.syntax.tree import parse_afresh

DRAWN = tomllib.loads(Path(__file__).with_name("plain_names.toml").read_text(encoding="utf-8"))

LANGUAGE_IDS = [it.id for it in all_languages() if it.imports]
ECMASCRIPT = ("javascript", "javascriptreact", "typescript", "typescriptreact")
USUAL = {
    "python": ["os||os", "os.path||os.path", "numpy||np", ".|nodes", "..a.b|C|D", "größe|Maß"],
    "go": ["fmt||fmt", "github.com/go-chi/chi/v5||chi", "gopkg.in/yaml.v3||yaml", "a~b/c+d||d"],
    "java": ["java.util|List", "org.a_b.$C|D$E", "größe|Maß"],
    "rust": ["std::io|Read", "crate::a|B|C", "super|x", "::serde|de", "r#type::a|r#match"],
    "typescript": [
        "./a-b/../c.js|x",
        "@scope/pkg|default|Main",
        "node:fs||fs",
        "#internal/a|$x|_y",
        "$lib/größe|Maß",
        "~/a+b|of",
    ],
}
ENDS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]
HIDDEN = ["\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad", "\x00", "\x1b[2J", "\u3164"]
HOSTILE = [
    *ENDS,
    *HIDDEN,
    *(f'"{end}evil()' for end in ENDS),
    *"\"'`\\;, \t()[]{}<>=*&|!?%^\u00a0\u3000",
    '"; evil(); "',
    "'; evil(); '",
    "`; evil(); `",
    '\\"; evil(); "',
    '" + evil() + "',
    "${evil()}",
    "#{evil()}",
    "{{evil}}",
    "//\nevil()",
    "/* */",
    "# evil",
    "; evil()",
    ", evil",
    " as evil",
    "; import evil",
    "\\u0022",
    'r"a"',
    "\ud800",
    "x" * (MAX_CHARS + 1),
]
FORMS: list[tuple[str, ImportForm]] = [
    *((it, "plain") for it in LANGUAGE_IDS),
    *((it, "require") for it in ECMASCRIPT),
    *((it, "type") for it in ECMASCRIPT[2:]),
    ("java", "static"),
]
HEADS = {"go": "package p\n\n"}


def binding_of(text: str) -> ImportBinding:
    module, name, local = (*text.split("|"), "", "")[:3]
    return ImportBinding(module=module, name=name, local=local or name or module)


def binding_with(language_id: str, part: str, text: str, form: ImportForm) -> ImportBinding:
    name = "" if language_id == "go" else "Alpha"
    parts = {"module": "alpha", "name": name, "local": "Alpha"}
    return ImportBinding(**{**parts, part: parts[part] + text}, form=form)


@pytest.mark.parametrize(
    ("language_id", "text"), [(key, it) for key, texts in USUAL.items() for it in texts]
)
def test_usual_imports_are_plain(language_id: str, text: str) -> None:
    assert is_plain(binding_of(text), language_for_id(language_id))


@pytest.mark.parametrize("part", ["module", "name", "local"])
@pytest.mark.parametrize(("language_id", "form"), FORMS)
def test_nothing_else_is_added(language_id: str, part: str, form: ImportForm) -> None:
    head, language = HEADS.get(language_id, ""), language_for_id(language_id)
    plain = binding_with(language_id, part, "", form)
    assert import_edits(head, [plain], len(head), language)
    for text in HOSTILE:
        hostile = binding_with(language_id, part, text, form)
        assert import_edits(head, [hostile], len(head), language) == (), ascii(text)
        assert import_edits(head, [plain, hostile], len(head), language) == (), ascii(text)


@pytest.mark.parametrize("part", ["name", "local"])
@pytest.mark.parametrize("language_id", LANGUAGE_IDS)
def test_a_keyword_is_no_name(language_id: str, part: str) -> None:
    parts = {"module": "alpha", "name": "Alpha", "local": "Alpha", part: "return"}
    assert not is_plain(ImportBinding(**parts), language_for_id(language_id))


@pytest.mark.parametrize(("language_id", "text"), DRAWN["no_name"]["cases"])
def test_what_the_language_has_no_such_name_for(language_id: str, text: str) -> None:
    assert not is_plain(binding_of(text), language_for_id(language_id))


@pytest.mark.parametrize(
    ("language_id", "before", "after", "expected"), DRAWN["one_import"]["cases"]
)
def test_a_second_line_of_defence_sees_one_import_and_nothing_else(
    language_id, before, after, expected
):
    language = language_for_id(language_id)
    old, new = parse_afresh(before, language), parse_afresh(after, language)
    assert old is not None and new is not None
    assert adds_one_import(old, new) == expected
