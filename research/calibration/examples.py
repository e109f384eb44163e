"""What a calibration is fitted on and measured by: texts that could be shown, kept or not.

*Kept* is judged by the known text of the hole. A whole text is kept if it is that text
(``judge``: trailing blanks and the kind of line end do not count). A beginning of a text, shown
because the rest is improbable, is kept if the known text begins with it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from intarsia.infill.calibration import Evidence, evidence_of
from intarsia.infill.filling.judged import end_confidence_of, tokens_of
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion
from intarsia.infill.syntax.text import with_plain_newlines
from intarsia_research.calibration.answers import CollectedAnswer, fill_options
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.judge import judge
from intarsia_research.evaluation.systems.client import plan_case


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggested:
    """A suggestion for one case as an editor would get it, before it is decided what is shown."""

    case: Case
    plan: FillPlan
    tokens: tuple[ConfidentToken, ...]
    end_confidence: float | None
    is_kept: bool

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)

    @property
    def group(self) -> str:
        """Holes of one group are not independent: a problem, or a file."""
        return f"{self.case.set} {self.case.group}"

    @property
    def evidence(self) -> Evidence:
        evidence = evidence_of(self.tokens, self.end_confidence)
        assert evidence is not None, "a collected answer has all confidences"
        return evidence

    def keeps(self, length: int) -> bool:
        """Whether the first ``length`` characters are kept, if only these are shown."""
        if length == len(self.text):
            return self.is_kept
        shown = with_plain_newlines(self.text[:length])
        return with_plain_newlines(self.case.truth).startswith(shown)


def suggested(answers: Iterable[CollectedAnswer], cases: Sequence[Case]) -> Iterator[Suggested]:
    """Yield the suggestions that the answers give; an answer that passes no filter gives none."""
    by_id: Mapping[tuple[str, str], Case] = {(case.set, case.id): case for case in cases}
    for answer in answers:
        case = by_id.get((answer.set, answer.case))
        if case is None:
            raise EvaluationFault(f"no such hole: {answer.set} {answer.case}")
        if (found := _suggested(answer, case)) is not None:
            yield found


def _suggested(answer: CollectedAnswer, case: Case) -> Suggested | None:
    plan = plan_case(case, fill_options())
    if answer.filled is None or isinstance(plan, NoSuggestion):
        return None
    suggestion = plan.read_at_cursor(answer.filled)
    if isinstance(suggestion, NoSuggestion):
        return None
    return Suggested(
        case=case,
        plan=plan,
        tokens=tokens_of(answer.filled, suggestion),
        end_confidence=end_confidence_of(answer.filled, suggestion),
        is_kept=judge(case, Answer(text=suggestion.text, reason=None, ms=0.0)).is_exact,
    )
