"""The answer of a system to one case: its text and its cost."""

from dataclasses import dataclass

from intarsia_research.errors import EvaluationFault


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer. Without ``text`` nothing was suggested, for ``reason``. None: unknown."""

    text: str
    reason: str | None
    is_failure: bool = False  # no answer: an error or a timeout
    ms: float  # from the client's request to its answer
    engine_ms: float | None = None
    read_ms: float | None = None  # the prefill's part of engine_ms
    num_forwards: int | None = None  # after the prefill
    num_tokens: int | None = None
    mean_entropy: float | None = None  # nats per token
    num_read: int | None = None  # context tokens read for it
    num_reused: int | None = None  # context tokens found in the KV cache
    num_project: int | None = None  # context tokens of other files that it was written with


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
