"""Each manner that the documents promise names tests in a real editor, and these exist."""

import ast
import re
from collections.abc import Mapping
from functools import cache

import pytest
from checkout import ROOT

NVIM, VSCODE = "tests/editors/nvim", "tests/real_editors"  # the latter by `make test-editors`
DOCUMENT = ROOT / "docs" / "manners.md"
ROW = re.compile(r"^\| (?!moment )([^|]*[^|\s-][^|]*?) \|.*\|$", re.MULTILINE)

MOMENTS: Mapping[str, tuple[str, ...]] = {
    "right after a deletion": (
        f"{NVIM}/test_manners.py::test_nothing_right_after_a_deletion_until_something_is_typed",
        f"{VSCODE}/manners/test_manners.py"
        "::test_nothing_right_after_a_deletion_until_something_is_typed",
    ),
    "right after undo or redo": (
        f"{NVIM}/test_manners.py::test_nothing_right_after_undo_and_redo",
        f"{VSCODE}/manners/test_manners.py::test_nothing_right_after_undo",
    ),
    "right after a paste of several lines, or of more than 40 characters": (
        f"{NVIM}/test_manners.py::test_nothing_right_after_a_paste",
        f"{NVIM}/test_manners.py"
        "::test_a_long_paste_within_a_line_is_one_too_and_a_short_one_is_not",
        f"{NVIM}/test_manners.py::test_an_accepted_suggestion_is_no_paste",
        f"{VSCODE}/manners/test_manners.py::test_nothing_right_after_a_paste",
    ),
    "right after a formatter or Replace All, in more than two places": (
        f"{NVIM}/test_manners.py::test_nothing_right_after_a_formatter",
        f"{NVIM}/test_manners.py::test_nothing_right_after_replace_all",
    ),
    "an open menu of completions": (
        f"{NVIM}/test_manners.py::test_nothing_beside_an_open_menu",
        f"{VSCODE}/manners/test_manners.py::test_nothing_over_the_menu_of_completions",
    ),
    "an open snippet": (
        f"{NVIM}/test_manners.py::test_nothing_in_an_open_snippet_unless_it_is_asked_for",
        f"{VSCODE}/manners/test_manners.py::test_nothing_in_an_open_snippet",
    ),
    "an Emmet abbreviation that Tab would expand (VS Code)": (
        f"{VSCODE}/manners/test_manners.py"
        "::test_nothing_over_an_emmet_abbreviation_that_tab_would_expand",
    ),
    "in a comment, or in documentation that has a word": (
        f"{NVIM}/test_manners.py::test_comments_and_strings_are_the_users_own",
        f"{NVIM}/test_manners.py::test_documentation_gets_something_until_it_has_a_word",
        f"{VSCODE}/manners/test_manners.py"
        "::test_comments_and_strings_are_the_users_own_unless_a_language_wants_more",
    ),
    "in a string; code in it is code": (
        f"{NVIM}/test_manners.py::test_comments_and_strings_are_the_users_own",
        f"{NVIM}/test_manners.py::test_code_in_a_string_is_code",
    ),
    "a line where suggestions were dismissed three times": (
        f"{NVIM}/test_manners.py"
        "::test_silence_in_a_line_after_three_dismissals_until_it_is_another_line",
        f"{NVIM}/test_manners.py"
        "::test_what_is_accepted_and_taken_back_three_times_counts_as_dismissed",
        f"{VSCODE}/manners/test_manners.py::test_silence_in_a_line_after_three_dismissals",
    ),
    "on battery: a longer pause": (
        f"{NVIM}/test_strain.py::test_on_battery_only_a_key_asks",
        f"{NVIM}/test_strain.py::test_slower_is_four_times_the_pause_in_typing",
    ),
    "while the computer is busy: a longer pause": (
        f"{NVIM}/test_strain.py::test_while_the_computer_is_busy_only_a_key_asks",
        f"{NVIM}/test_strain.py::test_slower_is_four_times_the_pause_in_typing",
    ),
}
"""The rows of the document's table."""

OTHERS: Mapping[str, tuple[str, ...]] = {
    "a request by a key always gets an answer": (
        f"{NVIM}/test_manners.py::test_a_request_by_a_key_is_answered_in_any_silence",
    ),
    "showThreshold decides how much is shown; what is hidden is counted": (
        f"{NVIM}/test_dial.py::test_it_decides_how_much_is_shown_while_the_user_types",
        f"{NVIM}/test_dial.py::test_what_it_hides_is_counted_and_shown_when_a_key_asks",
    ),
    "settings by language": (
        f"{NVIM}/test_manners.py::test_comments_get_something_in_a_language_that_wants_it",
        f"{VSCODE}/manners/test_manners.py"
        "::test_comments_and_strings_are_the_users_own_unless_a_language_wants_more",
    ),
    "settings by folder": (
        f"{NVIM}/test_folders.py::test_the_settings_are_those_of_the_files_folder",
        f"{VSCODE}/test_vscode_roots.py"
        "::test_a_language_is_off_in_one_folder_and_a_change_reaches_that_folder",
    ),
    "imports come along, and one undo takes both back": (
        f"{NVIM}/test_imports.py::test_the_import_is_shown_and_one_undo_takes_both_back",
        f"{NVIM}/test_imports.py::test_the_first_part_with_the_name_brings_the_import",
        f"{VSCODE}/manners/test_imports.py::test_the_import_is_added_and_one_undo_takes_both_back",
    ),
    "a repair is a quick fix": (
        f"{NVIM}/test_repair.py::test_a_quick_fix_repairs_the_line_and_one_undo_takes_it_back",
        f"{VSCODE}/manners/test_repair.py"
        "::test_a_quick_fix_repairs_the_line_and_one_undo_takes_it_back",
    ),
    "status --stats": (
        f"{NVIM}/test_statistics.py::test_each_way_to_accept_is_counted_once",
        f"{NVIM}/test_statistics.py"
        "::test_the_command_shows_what_was_counted_and_why_the_rest_was_not_shown",
    ),
}
"""What else the user is promised."""

NAMED = sorted({name for tests in (*MOMENTS.values(), *OTHERS.values()) for name in tests})


@cache
def named_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_each_moment_of_the_document_has_tests() -> None:
    assert set(ROW.findall(DOCUMENT.read_text())) == set(MOMENTS)
    assert all((*MOMENTS.values(), *OTHERS.values()))


@pytest.mark.parametrize("name", NAMED)
def test_a_named_test_exists(name: str) -> None:
    path, _, test = name.partition("::")
    assert test in named_in(path)
