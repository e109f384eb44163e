"""The protocol of a loaded model, which the service calls on its worker thread."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import ClassVar, Protocol

from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import (
    Fill,
    Filled,
    FindNextEdits,
    NextEdits,
    Prefetch,
    ScoreTexts,
    TextScores,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelInfo:
    """The loaded model as ``intarsia status`` shows it."""

    name: str
    family: str
    device: str
    dtype: str
    notes: tuple[str, ...]


class Filler(Protocol):
    """A loaded model that answers fills, one at a time, on one thread."""

    @property
    def info(self) -> ModelInfo:
        """The model as the status shows it."""

    def fill(self, request: Fill, control: FillControl) -> Filled:
        """Fill one hole. Raises Cancelled, ValueError (a field out of range), MemoryError."""

    def for_another_owner(self, *, cache_tokens: int) -> "Filler":
        """Return a filler with the same weights, which shares nothing that this one has read.

        Its KV caches hold up to ``cache_tokens``. Raises ModelError where a family holds its one
        context together with its weights.
        """

    def suspended(self) -> AbstractContextManager[None]:
        """Suspend the running fill within this context; it then finds all as it was."""

    def cached_tokens(self) -> int:
        """Return the number of context tokens in the KV caches."""

    @property
    def is_behind(self) -> bool:
        """Whether the last fill could not wait for something that ``prepare`` will read.

        It then begins after a short pause, such as between two keys.
        """

    def prepare(self, control: FillControl) -> None:
        """Use idle time for what the next request will need. Raises Cancelled, MemoryError."""

    def prefetch(self, place: Prefetch, control: FillControl) -> None:
        """Read the context of a fill at this place. Raises Cancelled, MemoryError."""

    def find_next_edits(self, request: FindNextEdits, control: FillControl) -> NextEdits:
        """Return the lines that no longer fit after an edit, corrected.

        Fills may run at its checkpoints, without ``suspended``. Raises Cancelled, MemoryError, and
        ValueError where this family cannot score.
        """

    def score_texts(self, request: ScoreTexts, control: FillControl) -> TextScores:
        """Return how much likelier texts are at a place than the present one.

        Fills may run at its checkpoints, without ``suspended``. Raises Cancelled, MemoryError, and
        ValueError where this family cannot score.
        """

    def prefill_tokens_per_s(self) -> float | None:
        """Return how quickly contexts are read; None before the first long one."""

    def rest(self) -> None:
        """Let go, after a pause and at the end, of what is held open for requests to come."""


class FillsOnly:
    """The part of a Filler that neither finds next edits nor scores texts, unless it says how."""

    who: ClassVar[str]
    advice: ClassVar[str] = ""

    @property
    def is_behind(self) -> bool:
        return False

    def find_next_edits(self, request: FindNextEdits, control: FillControl) -> NextEdits:
        raise ValueError(f"{self.who} finds no next edits{self.advice}")

    def score_texts(self, request: ScoreTexts, control: FillControl) -> TextScores:
        raise ValueError(f"{self.who} scores no texts{self.advice}")


def fill_at(place: Prefetch) -> Fill:
    """Return a fill that reads the context of a place."""
    return Fill(
        id=0,
        prefix=place.prefix,
        suffix=place.suffix,
        given=place.given,
        project=place.project,
        is_background=True,
    )
