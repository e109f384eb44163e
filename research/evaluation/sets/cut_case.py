"""Cut cases out of source files, of the languages and kinds of hole that are asked for."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from intarsia.infill.languages import PLAIN_TEXT, Language, language_for_id
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case, CaseKind
from intarsia_research.holes.cut_holes import CUT_HOLE_KINDS, CutHole, CutHoleKind


def cut_case(text: str, hole: CutHole, *, path: str, language: Language, set_name: str) -> Case:
    """Return the case of one hole. ``path`` is relative to the set's root."""
    line = text.count("\n", 0, hole.start) + 1
    column = hole.start - text.rfind("\n", 0, hole.start)
    return Case(
        id=f"{path}:{line}:{column}:{hole.kind}",
        set=set_name,
        kind=hole.kind,
        language=language.id,
        path=PurePosixPath(path).name,
        group=path,
        prefix=text[: hole.start],
        truth=text[hole.start : hole.end],
        suffix=text[hole.end :],
    )


def language_ids(names: Sequence[str]) -> frozenset[str]:
    """Return the ids of languages given by any usual name. Raise EvaluationFault if unknown."""
    for name in names:
        if language_for_id(name) is PLAIN_TEXT:
            raise EvaluationFault(
                f"{name} is no known language: give an id such as python or typescript"
            )
    return frozenset(language_for_id(name).id for name in names)


def hole_kinds(kinds: Sequence[CaseKind] | None) -> tuple[CutHoleKind, ...]:
    """Return the requested kinds in their usual order; by default all."""
    for kind in kinds or ():
        if kind not in CUT_HOLE_KINDS:
            raise EvaluationFault(
                f"holes of the kind {kind} are not cut: give one of {', '.join(CUT_HOLE_KINDS)}"
            )
    return tuple(kind for kind in CUT_HOLE_KINDS if not kinds or kind in kinds)
