"""Cut a hole out of a source file: the case has the text before, inside and after it."""

from pathlib import PurePosixPath

from intarsia.infill.languages import Language
from intarsia.training.cut_holes import CutHole
from intarsia_research.evaluation.case import Case


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
