"""What each stage of cleaning makes of a fill, drawn in stages.toml; how many lines are kept."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from drawn_hole import drawn_hole

from intarsia.infill.filling.judged import align, is_whole_beginning
from intarsia.infill.postprocess import clean, cut, fit
from intarsia.infill.postprocess.clean import drop_broken_tail, drop_code_fence
from intarsia.infill.postprocess.cut import (
    cut_suffix_overlap,
    cut_to_max_lines,
    cut_to_scope,
    is_known_line,
)
from intarsia.infill.postprocess.fit import CleaningContext, shorten_or_reject
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion, Suggestion

DRAWN = tomllib.loads(Path(__file__).with_name("stages.toml").read_text(encoding="utf-8"))


def drop_what_follows(fill: str, context: CleaningContext) -> str:
    kept = cut_suffix_overlap(fill, context)
    return "" if is_known_line(kept, context) else kept


STAGES = {**vars(fit), **vars(cut), **vars(clean), "drop_what_follows": drop_what_follows}


def stage_cases() -> Iterator[Any]:
    for table in DRAWN["stage"]:
        language, source = table.get("language", "python"), table.get("source")
        rows = table.get("cases") or [[*row, row[-1]] for row in table["kept"]]
        for *place, fill, expected in rows:
            where = ([language, source, *place] if source else [language, *place])[-2:]
            name = f"{table['says']}: {where[1]!r}, {fill!r}"
            yield pytest.param(STAGES[table["stage"]], *where, fill, expected, id=name)


@pytest.mark.parametrize(("stage", "language", "source", "fill", "expected"), [*stage_cases()])
def test_a_stage_makes_of_a_fill_what_is_drawn(stage, language, source, fill, expected):
    assert stage(fill, drawn_hole(source, language).context()) == expected


@pytest.mark.parametrize(
    ("is_whole", "language", "source", "beginning", "goes_on"),
    [(table["is_whole"], *case) for table in DRAWN["beginning"] for case in table["cases"]],
)
def test_code_may_end_where_it_is_whole(is_whole, language, source, beginning, goes_on):
    context = drawn_hole(source, language).context()
    assert is_whole_beginning(beginning, goes_on, context) is is_whole


def test_a_block_has_no_more_than_32_lines():
    context = drawn_hole("def f():║\n").context()
    assert cut_to_max_lines("\n" + "    a\n" * 40, context) == "\n" + "\n".join(["    a"] * 32)


def test_a_bracket_that_was_opened_far_above_may_stay_open():
    context = drawn_hole("(f '(\n" + "  (g)\n" * 300 + "  ║\n  h)))\n\n(i\n", "plaintext").context()
    assert shorten_or_reject("(j", context) == "(j"


def test_a_body_that_does_not_begin_inside_its_header_is_dropped():
    context = drawn_hole("def f():\n║\n").context()
    assert isinstance(cut_to_scope("def g():\n    pass", context), NoSuggestion)
    assert cut_to_scope("    pass", context) == "    pass"


@pytest.mark.parametrize("fill", ["return False", "raise Missing(name)", "return self.default(x)"])
def test_a_branch_may_end_as_the_code_after_it_does(fill):
    for begun, indent, kept in (
        ("    if x:\n        ", "", fill),
        ("    if x:\n", " " * 8, " " * 8 + fill),
        ("    ", "", ""),
    ):
        context = drawn_hole(f"def f(x):\n{begun}║\n    {fill}\n").context()
        assert drop_what_follows(indent + fill, context) == kept


def test_no_suggestion_has_a_raw_escape() -> None:
    assert drawn_hole("x = ║").draw("1\x1b[2J") == "x = ├1┤"
    assert drawn_hole("x = ║").draw("\x1b[2J1") == "no part of the text fits here"


def test_what_is_kept_keeps_its_confidences() -> None:
    written = [
        ConfidentToken("1 ", 0.9),
        ConfidentToken("+ 2\u202e", 0.7),
        ConfidentToken("3", 0.5),
    ]
    cleaned = drawn_hole("x = ║").clean("".join(token.text for token in written))
    assert isinstance(cleaned, Suggestion)
    assert align(written, cleaned.text) == (ConfidentToken("1 ", 0.9), ConfidentToken("+ 2", 0.7))


def test_plain_text_may_have_fences_and_cannot_be_broken():
    context = drawn_hole("║║", "plaintext").context()
    for text, stage in (("```sh\nls\n```", drop_code_fence), ("a\n(b", drop_broken_tail)):
        assert stage(text, context) == text


def test_a_docstring_may_have_fences():
    context = drawn_hole('def f():\n    """Do.\n\n    ║║\n    """\n').context()
    assert drop_code_fence("\n    ```\n    a", context) == "\n    ```\n    a"
