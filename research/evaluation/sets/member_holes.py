"""Finds all holes of one package after ``receiver.``, where a class of another file is meant.

What the receiver is, the product's own rules tell, from the file with the hole cut out. So these
holes show what its members are worth where a rule finds them, and not how often one does.
"""

import random
from collections.abc import Generator, Iterator
from pathlib import Path

import tree_sitter

from intarsia.infill.languages import Language, language_for_id
from intarsia.infill.syntax.tree import load_grammar, parse_afresh
from intarsia.workspace.context.candidate import Surroundings
from intarsia.workspace.context.chunk import ChunkOptions, Place
from intarsia.workspace.context.receiver import receiver_members, type_of
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.sets.project_holes import (
    PackageFile,
    ProjectHole,
    file_holes,
    holes_in_rounds,
    texts_of,
)
from intarsia_research.holes.cut_holes import offsets_of_bytes
from intarsia_research.holes.imported_uses import Package
from intarsia_research.holes.package_index import indexed_package

SET_NAME = "members"

_ACCESSED = {
    "python": "(attribute attribute: (identifier) @name)",
    "typescript": "(member_expression property: (property_identifier) @name)",
    "typescriptreact": "(member_expression property: (property_identifier) @name)",
}


def member_holes(
    name: str, root: Path, language: str, chance: random.Random
) -> Generator[ProjectHole]:
    """Yield the holes in a package's files of one language, in random order; tests have none.

    Each begins with the name of a member of the receiver's class, which another file defines.
    """
    package = Package(texts_of(root))
    with indexed_package(root) as index:
        known = _member_names(index, root, package)

        def holes_of(source: PackageFile) -> Iterator[ProjectHole]:
            names = {start: member for start, member in _accessed(source) if member in known}
            if names:
                imports = package.uses(source.path).imports
                yield from file_holes(source, names, imports, SET_NAME)

        for hole in holes_in_rounds(name, root, language, holes_of, chance):
            if is_member_of_another_file(hole.case, index):
                yield hole


def is_member_of_another_file(case: Case, index: ProjectIndex) -> bool:
    """Whether the receiver's type at a hole is a class of another file that has the used name."""
    assert case.root is not None, "a hole of a package has its folder"
    path = (case.root / case.path).as_posix()
    place = Place(
        path=path,
        text=case.prefix + case.suffix,
        language=language_for_id(case.language),
        offset=len(case.prefix),
        window_start=0,
        window_end=0,
    )
    around = Surroundings(index, place, ChunkOptions())
    receiver = around.neighbourhood.receiver
    found = type_of(around, receiver) if receiver else None
    if found is None or found[0] == path:
        return False
    return any(member.local == case.name for member in receiver_members(around))


def _member_names(index: ProjectIndex, root: Path, package: Package) -> set[str]:
    """Return the names of all members of the package's classes."""
    files = (index.symbols_of((root / path).as_posix()) for path in package.paths)
    return {
        definition.name
        for symbols in files
        for definition in (symbols.definitions if symbols else ())
        if definition.container
    }


def _accessed(source: PackageFile) -> Iterator[tuple[int, str]]:
    """Yield the names after a dot in a file, with their offsets."""
    query = _ACCESSED.get(source.language.id)
    syntax = parse_afresh(source.text, source.language)
    if query is None or syntax is None:
        return
    offsets = offsets_of_bytes(source.text)
    for node in _captures(query, source.language, syntax.tree.root_node):
        start, end = offsets[node.start_byte], offsets[node.end_byte]
        yield start, source.text[start:end]


def _captures(query: str, language: Language, root: tree_sitter.Node) -> list[tree_sitter.Node]:
    compiled = tree_sitter.Query(load_grammar(language.grammar), query)
    found = tree_sitter.QueryCursor(compiled).captures(root).get("name", [])
    return sorted(found, key=lambda node: node.start_byte)
