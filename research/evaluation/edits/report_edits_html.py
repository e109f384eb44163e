"""Writes a run of edits as one HTML page: its figures, and cases with edit, offer and truth.

The page is self-contained. All text of cases and answers is escaped.
"""

from intarsia_research.evaluation.edits.edit_figures import EditFigures
from intarsia_research.evaluation.edits.edit_record import EditRun, JudgedPlace
from intarsia_research.evaluation.edits.report_edits_table import EXPLANATION
from intarsia_research.evaluation.edits.shown_edits import edit_galleries
from intarsia_research.evaluation.page_templates import page_template

_TEMPLATE = "edits.html.jinja"


def edits_page(run: EditRun, figures: EditFigures) -> str:
    """Return the page as HTML."""
    galleries = edit_galleries(run.rows)
    shown = [case.row for gallery in galleries for case in gallery.cases]
    return page_template(_TEMPLATE, numbers=numbers).render(
        run=run,
        figures=figures,
        explanation=EXPLANATION,
        galleries=galleries,
        kinds=sorted({row.kind for row in shown}),
        languages=sorted({row.language for row in shown}),
        repositories=sorted({row.repo for row in shown}),
    )


def numbers(place: JudgedPlace) -> str:
    """Return the likelihoods of a place, in nats."""
    agreed = ", both ways agree" if place.is_agreed else ""
    return (
        f"drop {place.drop:.1f}, gain {place.gain:.1f}, before the edit {place.gain_before:.1f}, "
        f"log p {place.log_p:.1f}{agreed}"
    )
