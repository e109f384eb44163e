"""Duplicates are found; files that only share a part are kept."""

from corpus_files import functions

from intarsia_research.corpus.duplicates import SeenTexts

NAMES = [f"name{n}" for n in range(20)]


def test_the_same_words_in_another_layout_are_the_same():
    seen = SeenTexts()
    text = functions(*NAMES)
    assert seen.find_or_add("a", text) is None
    assert seen.find_or_add("b", text.replace("    ", "\t").upper()) == "a"


def test_a_file_with_a_few_changes_is_found():
    seen = SeenTexts()
    assert seen.find_or_add("a", functions(*NAMES)) is None
    assert seen.find_or_add("b", "# Copyright of another\n" + functions(*NAMES[1:], "new")) == "a"


def test_files_that_share_a_part_are_both_kept():
    seen = SeenTexts()
    assert seen.find_or_add("a", functions(*NAMES)) is None
    assert seen.find_or_add("b", functions(*NAMES[:8], *(f"more{n}" for n in range(12)))) is None
    assert seen.find_or_add("c", functions(*(f"other{n}" for n in range(20)))) is None


def test_a_duplicate_is_not_remembered_in_the_first_one_s_place():
    seen = SeenTexts()
    assert seen.find_or_add("a", functions(*NAMES)) is None
    assert seen.find_or_add("b", functions(*NAMES[:-1])) == "a"
    assert seen.find_or_add("c", functions(*NAMES)) == "a"


def test_texts_of_a_word_or_none_do_no_harm():
    seen = SeenTexts()
    assert seen.find_or_add("a", "") is None
    assert seen.find_or_add("b", "()") == "a"
    assert seen.find_or_add("c", "word") is None
    assert seen.find_or_add("d", "another") is None
