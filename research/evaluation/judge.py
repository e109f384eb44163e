"""Judge an answer by the known text of its case. Tests are run elsewhere (``run_tests``)."""

import re

import msgspec
from rapidfuzz.distance import Indel

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.text import with_plain_newlines
from intarsia.infill.syntax.tree import num_errors, parse, parse_edited
from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case, CaseKind
from intarsia_research.evaluation.suffix_repetition import repeats_suffix


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer is like. None: does not apply."""

    is_exact: bool  # equal to the truth, apart from trailing blanks
    similarity: float  # 0 to 1, normalised Levenshtein (indel) on characters
    is_empty: bool
    parses: bool | None  # no syntax error; None: the original file has one
    duplicates_suffix: bool  # it ends with a repetition of the text after the hole
    length_error: int  # characters more (negative: fewer) than the truth
    passed: bool | None  # None: there is no test, or it was not run
    is_named: bool | None = None  # it has the name of the other file; None: the case has no name


def judge(case: Case, answer: Answer) -> Judgement:
    """Compare an answer with the truth. An empty answer is judged like any other."""
    text, truth = _as_judged(answer.text, case.kind), _as_judged(case.truth, case.kind)
    return Judgement(
        is_exact=text == truth,
        similarity=Indel.normalized_similarity(text, truth),
        is_empty=not text,
        parses=_parses(case, answer.text),
        duplicates_suffix=_duplicates_suffix(case, answer.text),
        length_error=len(text) - len(truth),
        passed=None,
        is_named=None if case.name is None else _has_name(answer.text, case.name),
    )


def _has_name(text: str, name: str) -> bool:
    """Return whether the text has the name as a whole identifier."""
    return re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text) is not None


def _as_judged(text: str, kind: CaseKind) -> str:
    """Normalize line ends; remove trailing blanks, in a block those of every line."""
    plain = with_plain_newlines(text)
    if kind == "block":
        plain = "\n".join(line.rstrip() for line in plain.split("\n"))
    return plain.rstrip()


def _parses(case: Case, text: str) -> bool | None:
    """Return whether the filled file has no syntax error; None if the original has one."""
    if not text.strip():
        return None
    whole = parse(case.filled(case.truth), language_for_id(case.language))
    if whole is None or num_errors(whole):
        return None
    start = len(case.prefix)
    filled = parse_edited(whole, start, start + len(case.truth), text)
    return filled is not None and not num_errors(filled)


def _duplicates_suffix(case: Case, text: str) -> bool:
    """Return whether the text repeats the suffix. If the truth does so too, it is no fault."""
    return repeats_suffix(case.prefix, text, case.suffix) and not repeats_suffix(
        case.prefix, case.truth, case.suffix
    )
