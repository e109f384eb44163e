"""Tell the failure of one hole from a fault that fails every hole."""

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.answer import Answer

MAX_IN_A_ROW = 5


class Failures:
    """Counts consecutive holes without an answer."""

    def __init__(self) -> None:
        self._num_in_a_row = 0

    def noted(self, answer: Answer) -> Answer:
        """Return the answer. Raise EvaluationFault after MAX_IN_A_ROW consecutive failures."""
        self._num_in_a_row = self._num_in_a_row + 1 if answer.is_failure else 0
        if self._num_in_a_row >= MAX_IN_A_ROW:
            raise EvaluationFault(
                f"{self._num_in_a_row} holes in a row got no answer, correct the cause: "
                f"{answer.reason}"
            )
        return answer


def failed(reason: str, ms: float) -> Answer:
    """Return the answer of a failed fill."""
    return Answer(text="", reason=reason, is_failure=True, ms=ms)
