"""Write a run as one HTML page: its figures, and its worst and best answers.

The page is self-contained. All text of cases and answers is escaped.
"""

from collections.abc import Sequence

from intarsia.infill.syntax.lines import with_plain_newlines
from intarsia_research.evaluation import figure_text
from intarsia_research.evaluation.figures import SetFigures
from intarsia_research.evaluation.page_templates import page_template
from intarsia_research.evaluation.record import Row, Run
from intarsia_research.evaluation.report_table import ALL_SETS
from intarsia_research.evaluation.shown_cases import Gallery, galleries

LINES_BEFORE = 8
LINES_AFTER = 5
CHARS_SHOWN = 1_200

_TEMPLATE = "report.html.jinja"


def page(run: Run, figures: Sequence[SetFigures]) -> str:
    """Return the page as HTML."""
    template = page_template(
        _TEMPLATE, median=median, before=before, after=after, shortened=shortened, marks=marks
    )
    shown = galleries(run.rows)
    return template.render(
        run=run,
        sets=figures,
        all_sets=ALL_SETS,
        galleries=shown,
        kinds=_values(shown, "kind"),
        languages=_values(shown, "language"),
    )


def before(row: Row) -> str:
    """Return the last lines before the hole."""
    lines = with_plain_newlines(row.before)[-CHARS_SHOWN:].split("\n")
    return "\n".join(lines[-LINES_BEFORE:])


def after(row: Row) -> str:
    """Return the first lines after the hole."""
    lines = with_plain_newlines(row.after)[:CHARS_SHOWN].split("\n")
    return "\n".join(lines[:LINES_AFTER])


def median(figure: float | None) -> str:
    """Return a number of characters with its sign."""
    return figure_text.NONE if figure is None else figure_text.signed(figure, 0)


def shortened(text: str) -> str:
    """Return a text cut to the page's limit, with a note if it was cut."""
    if len(text) <= CHARS_SHOWN:
        return text
    return f"{text[:CHARS_SHOWN]}\n… {len(text) - CHARS_SHOWN:,} more characters"


def marks(row: Row) -> list[str]:
    """Return remarks on an answer."""
    judgement = row.judgement
    if row.is_failure:
        return ["failed"]
    return [
        words
        for words, is_so in (
            ("exact", judgement.is_exact),
            ("passes its test", judgement.passed is True),
            ("fails its test", judgement.passed is False),
            ("empty", judgement.is_empty),
            ("breaks the file", judgement.parses is False),
            ("repeats what follows", judgement.duplicates_suffix),
        )
        if is_so
    ]


def _values(shown: Sequence[Gallery], name: str) -> list[str]:
    cases = [case for gallery in shown for case in (*gallery.worst, *gallery.best)]
    return sorted({str(getattr(case.row, name)) for case in cases})
