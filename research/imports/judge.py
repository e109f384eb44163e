"""Judges the import that is proposed for a seeded hole against the one that was taken out."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import ImportBinding
from intarsia.infill.imports.unbound import unbound_names
from intarsia.infill.languages import Language
from intarsia.infill.replacement import with_replaced
from intarsia.workspace.imports.finder import ImportFinder
from intarsia.workspace.index.reader import IndexReader
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.given_names import GivenName, given_names
from intarsia_research.imports.seeded_hole import SeededHole


@dataclass(kw_only=True, slots=True, eq=False)
class Tally:
    """Counts of holes by result, and examples of what was wrong."""

    num_correct: int = 0
    num_wrong: int = 0
    num_lines: int = 0  # complete lines, which lack nothing
    num_unneeded: int = 0  # of those: with a proposed import
    silent: Counter[str] = field(default_factory=Counter)  # by the reason
    examples: list[str] = field(default_factory=list)

    @property
    def num_told(self) -> int:
        return self.num_correct + self.num_wrong

    @property
    def num_holes(self) -> int:
        return self.num_told + sum(self.silent.values())

    def add(self, other: "Tally") -> None:
        self.num_correct += other.num_correct
        self.num_wrong += other.num_wrong
        self.num_lines += other.num_lines
        self.num_unneeded += other.num_unneeded
        self.silent += other.silent
        self.examples += other.examples


def judge_hole(
    index: IndexReader, path: str, hole: SeededHole | GivenName, language: Language, tally: Tally
) -> None:
    """Ask for the import of one hole, write it, and count whether it is the one taken out."""
    if isinstance(hole, GivenName):
        tally.silent["no use of the name is found"] += 1
        return
    unbound = hole.unbound
    finder = ImportFinder(index, path, hole.text, language)
    found = finder.find(unbound)
    if found.binding is None:
        reason = found.reason.split(":")[0]
        tally.silent["a star import" if reason.startswith("all names") else reason] += 1
        return
    edits = import_edits(hole.text, [found.binding], unbound.offset, language)
    if not edits:
        tally.silent["the file has no place for it"] += 1
        return
    if _is_restored(finder, hole, with_replaced(hole.text, edits), language):
        tally.num_correct += 1
        return
    tally.num_wrong += 1
    tally.examples.append(f"{path}: {_shown(hole.given)} became {_shown_binding(found.binding)}")


def judge_lines(
    index: IndexReader, path: str, text: str, lines: Iterator[tuple[int, int]], tally: Tally
) -> None:
    """Count the imports that are proposed for lines of a complete file."""
    from intarsia.infill.languages import language_for_path

    language = language_for_path(path)
    finder = ImportFinder(index, path, text, language)
    for start, end in lines:
        tally.num_lines += 1
        for unbound in unbound_names(text, start, end, language):
            binding = finder.find(unbound).binding
            if binding is not None:
                tally.num_unneeded += 1
                tally.examples.append(f"{path}: unneeded {_shown_binding(binding)}")
                break


def _is_restored(finder: ImportFinder, hole: SeededHole, text: str, language: Language) -> bool:
    """Whether the text has an import again that gives the same thing under the same name."""
    now = given_names(extract_symbols(text, language))
    mine = [it for it in now if it.local == hole.given.local]
    return any(_is_same(finder, it, hole.given) for it in mine)


def _is_same(finder: ImportFinder, one: GivenName, other: GivenName) -> bool:
    if (one.name, one.module) == (other.name, other.module):
        return one.kind == other.kind
    return finder.is_same_meaning(one, other)


def _shown(given: GivenName) -> str:
    return f"{given.module}:{given.name} as {given.local}"


def _shown_binding(binding: ImportBinding) -> str:
    return f"{binding.module}:{binding.name} as {binding.local}"
