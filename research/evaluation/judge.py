"""From a case and an answer to a verdict. Runs nothing: ``passed`` is left to ``execute``."""

from rapidfuzz.distance import Indel

from intarsia.evaluation.answer import Answer
from intarsia.evaluation.case import Case, CaseKind
from intarsia.evaluation.suffix_repetition import repeats_suffix
from intarsia.evaluation.verdict import Verdict
from intarsia.infill.languages import language_for_id
from intarsia.infill.lines import with_plain_newlines
from intarsia.infill.nodes import num_errors
from intarsia.infill.syntax import parse, parse_edited


def judge(case: Case, answer: Answer) -> Verdict:
    """Compare an answer with what stood there. An empty answer is judged as it stands."""
    text, truth = _as_judged(answer.text, case.kind), _as_judged(case.truth, case.kind)
    return Verdict(
        is_exact=text == truth,
        similarity=Indel.normalized_similarity(text, truth),
        is_empty=not text,
        parses=_parses(case, answer.text),
        duplicates_suffix=_duplicates_suffix(case, answer.text),
        length_error=len(text) - len(truth),
        passed=None,
    )


def _as_judged(text: str, kind: CaseKind) -> str:
    """Take away what nobody sees: kinds of line ends, blanks at the end, in a block on any line."""
    plain = with_plain_newlines(text)
    if kind == "block":
        plain = "\n".join(line.rstrip() for line in plain.split("\n"))
    return plain.rstrip()


def _parses(case: Case, text: str) -> bool | None:
    """Whether the file with the text has no error; None where it had one with the truth, too."""
    if not text.strip():
        return None
    whole = parse(case.filled(case.truth), language_for_id(case.language))
    if whole is None or num_errors(whole):
        return None
    start = len(case.prefix)
    filled = parse_edited(whole, start, start + len(case.truth), text)
    return filled is not None and not num_errors(filled)


def _duplicates_suffix(case: Case, text: str) -> bool:
    """Some good code repeats itself: where the truth does, nothing is held against an answer."""
    return repeats_suffix(case.prefix, text, case.suffix) and not repeats_suffix(
        case.prefix, case.truth, case.suffix
    )
