"""Check the requested languages and kinds of hole, and return them by their known names."""

from collections.abc import Sequence

from intarsia.infill.languages import PLAIN_TEXT, language_for_id
from intarsia.training.cut_holes import CUT_HOLE_KINDS, CutHoleKind
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import CaseKind


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
