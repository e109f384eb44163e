"""Tells the fault of one hole from one that no hole would be filled under."""

from intarsia.research.errors import EvaluationFault
from intarsia.research.evaluation.answer import Answer

MAX_IN_A_ROW = 5


class Failures:
    """Counts the holes in a row that got no answer at all."""

    def __init__(self) -> None:
        self._num_in_a_row = 0

    def noted(self, answer: Answer) -> Answer:
        """Return the answer. Raises EvaluationFault where it is one failure too many."""
        self._num_in_a_row = self._num_in_a_row + 1 if answer.is_failure else 0
        if self._num_in_a_row >= MAX_IN_A_ROW:
            raise EvaluationFault(
                f"{self._num_in_a_row} holes in a row got no answer, see to the cause and start "
                f"again: {answer.reason}"
            )
        return answer


def failed(reason: str, ms: float) -> Answer:
    """Return that there was no answer."""
    return Answer(text="", reason=reason, is_failure=True, ms=ms)
