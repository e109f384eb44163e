"""Breakages are seeded, change one token, and leave a file that no longer parses."""

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.parse import parse_afresh
from intarsia_research.repair.breakages import draw_breakages, has_same_code

GO = language_for_id("go")
FILES = {"a.go": "package a\n\nfunc f(x int) int {\n\treturn g(x, 1)\n}\n", "b.go": "package ((\n"}


def test_they_are_drawn_by_the_seed_and_do_not_parse():
    drawn = draw_breakages(FILES, GO, count=8, seed=1)
    assert {it.kind for it in drawn} == {"delete", "insert", "replace", "swap"}
    for breakage in drawn:
        syntax = parse_afresh(breakage.broken, GO)
        assert breakage.path == "a.go", "what is broken already is left out"
        assert syntax is not None and syntax.tree.root_node.has_error
    again = draw_breakages(FILES, GO, count=8, seed=1)
    assert [it.broken for it in again] == [it.broken for it in drawn]
    other = draw_breakages(FILES, GO, count=8, seed=2)
    assert [it.broken for it in other] != [it.broken for it in drawn]


def test_only_blanks_within_lines_may_differ():
    assert has_same_code("if a:\n    f( b )\n", "if a:\n    f(b)\n")
    assert not has_same_code("if a:\n    f(b)\n", "if a:\n  f(b)\n")
    assert not has_same_code("f(b)\n", "f(b)\n\n")
