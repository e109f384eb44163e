"""From a case and an answer to a judgement. Runs nothing: ``passed`` is left to ``execute``."""

import msgspec
from rapidfuzz.distance import Indel

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.lines import with_plain_newlines
from intarsia.infill.syntax.nodes import num_errors
from intarsia.infill.syntax.parse import parse, parse_edited
from intarsia.research.evaluation.answer import Answer
from intarsia.research.evaluation.case import Case, CaseKind
from intarsia.research.evaluation.suffix_repetition import repeats_suffix


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """One answer, judged. What does not apply is None."""

    is_exact: bool  # equal to the truth, blanks at the ends apart
    similarity: float  # 0 to 1, normalised Levenshtein (indel) on characters
    is_empty: bool
    parses: bool | None  # no more syntax errors than the whole file has; None: it has some itself
    duplicates_suffix: bool  # it ends with a repetition of what stands behind the hole
    length_error: int  # characters more (or, negative, fewer) than the truth has
    passed: bool | None  # None: no test, or none was run


def judge(case: Case, answer: Answer) -> Judgement:
    """Compare an answer with what stood there. An empty answer is judged as it stands."""
    text, truth = _as_judged(answer.text, case.kind), _as_judged(case.truth, case.kind)
    return Judgement(
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
