import pytest

from intarsia.infill.languages import PLAIN_TEXT, all_languages, language_for_id, language_for_path
from intarsia.infill.syntax.tree import load_grammar


@pytest.mark.parametrize("language", all_languages(), ids=lambda language: language.id)
def test_every_grammar_loads(language):
    assert language.grammar
    assert load_grammar(language.grammar).node_kind_count > 10


def test_no_id_alias_or_file_name_belongs_to_two_languages():
    names = [
        name
        for row in all_languages()
        for name in {row.id, *row.aliases, *row.extensions, *row.filenames}
    ]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("path", "language_id"),
    [
        ("a/b.py", "python"),
        ("x.TSX", "typescriptreact"),
        ("lib.h", "cpp"),
        ("main.c", "c"),
        ("/home/me/.bashrc", "shellscript"),
        ("Gemfile", "ruby"),
        ("notes.txt", "plaintext"),
        ("README", "plaintext"),
        ("", "plaintext"),
    ],
)
def test_the_language_of_a_path(path, language_id):
    assert language_for_path(path).id == language_id


def test_ids_are_those_of_editors():
    assert language_for_id("sh").id == "shellscript"
    assert language_for_id("javascriptreact").grammar == language_for_id("javascript").grammar
    assert language_for_id("typescriptreact").grammar != language_for_id("typescript").grammar
    assert language_for_id("brainfuck") is PLAIN_TEXT
