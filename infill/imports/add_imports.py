"""Adds imports to a file: the edits that bring names into it, in the file's own style."""

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from intarsia.infill.imports.binding import ImportBinding
from intarsia.infill.imports.ecmascript_imports import place_ecmascript
from intarsia.infill.imports.go_imports import place_go
from intarsia.infill.imports.import_lines import num_alike
from intarsia.infill.imports.java_imports import place_java
from intarsia.infill.imports.one_import import adds_one_import
from intarsia.infill.imports.plain_names import is_plain
from intarsia.infill.imports.python_imports import place_python
from intarsia.infill.imports.rust_imports import place_rust
from intarsia.infill.imports.unbound import is_bound
from intarsia.infill.languages import ECMASCRIPT_IDS, Language
from intarsia.infill.replacement import Replacement, with_replaced
from intarsia.infill.syntax.nodes import num_errors
from intarsia.infill.syntax.parse import Syntax, parse

_Place: TypeAlias = Callable[[Syntax, ImportBinding, int], Replacement | None]

_PLACES: Mapping[str, _Place] = {
    "python": place_python,
    **dict.fromkeys(ECMASCRIPT_IDS, place_ecmascript),
    "go": place_go,
    "java": place_java,
    "rust": place_rust,
}


def import_edits(
    text: str, bindings: Sequence[ImportBinding], at: int, language: Language
) -> tuple[Replacement, ...]:
    """Return the edits that import these names for code at an offset, in order.

    () where one has no plain name or cannot be placed, where an edit would change more than one
    import, and where the text would parse worse than before.
    """
    place = _PLACES.get(language.id)
    before = parse(text, language)
    if place is None or before is None or not all(is_plain(it, language.id) for it in bindings):
        return ()
    syntax = before
    for binding in bindings:
        # One part of Python's ``a.b`` that is known is not enough.
        if "." not in binding.local and is_bound(syntax, binding.local, at):
            continue
        found = place(syntax, binding, at)
        after = None if found is None else parse(with_replaced(syntax.text, [found]), language)
        if found is None or after is None or not adds_one_import(syntax, after):
            return ()
        syntax = after
        at += found.growth if found.end <= at else 0
    if num_errors(syntax) > num_errors(before):
        return ()
    return _line_edits(text, syntax.text)


def _line_edits(old: str, new: str) -> tuple[Replacement, ...]:
    """Return the difference of two texts in whole lines, so that no other line is touched."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    num_same = num_alike(before, after)
    num_tail = num_alike(before[num_same:][::-1], after[num_same:][::-1])
    before_mid = before[num_same : len(before) - num_tail]
    after_mid = after[num_same : len(after) - num_tail]
    starts = [sum(map(len, before[:num_same]))]
    for line in before_mid:
        starts.append(starts[-1] + len(line))
    matcher = SequenceMatcher(None, before_mid, after_mid, autojunk=False)
    return tuple(
        Replacement(start=starts[first], end=starts[last], new="".join(after_mid[low:high]))
        for tag, first, last, low, high in matcher.get_opcodes()
        if tag != "equal"
    )
