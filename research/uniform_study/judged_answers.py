"""Turn the ids of answers into text as the engine does, and judge them as ``eval`` does."""

import gzip
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import msgspec

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.hole_text import HoleText
from intarsia.engine.ipc.messages import Filled, Timing
from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia.infill.filling.plan import Attempts, EngineCost
from intarsia.infill.suggestion import NoSuggestion, Suggestion
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.record import SystemInfo
from intarsia_research.evaluation.systems.direct import answer_of
from intarsia_research.uniform_study.read_cases import CaseReader, CaseTask

UNBOUND = NoSuggestion(reason="the tokens do not continue the half-typed text")

CaseKey = tuple[str, str]
"""Set and id of a case."""


class AnswerLine(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of one hole. What follows an end token, or ``max_tokens``, is not read.

    More lines of a case and an arm are alternatives, taken where those before are rejected. A case
    without a hole has a line too, with no ids.
    """

    set: str
    case: str
    arm: Annotated[str, msgspec.Meta(pattern=r"^\w[\w.+-]*$")]  # names a file
    ids: list[Annotated[int, msgspec.Meta(ge=0, lt=2**31)]]  # healed bytes included
    confidences: list[float]  # as many: probabilities, 0 to 1
    num_forwards: int
    num_steps: float | None = None  # of denoising, without the passes that chose a length
    mean_entropy: float | None = None  # nats per token
    ms: float = 0.0


Answers = Mapping[str, Mapping[CaseKey, Sequence[AnswerLine]]]
"""Lines by arm and case."""


def read_answers(path: Path) -> Answers:
    """Read a gzipped file of lines. Raises EvaluationFault."""
    answers: dict[str, dict[CaseKey, list[AnswerLine]]] = {}
    try:
        lines = gzip.decompress(path.read_bytes()).splitlines()
    except (OSError, EOFError, zlib.error) as error:
        raise EvaluationFault(f"cannot read {path}: {error}") from error
    for number, text in enumerate(lines, start=1):
        try:
            line = msgspec.json.decode(text, type=AnswerLine)
        except msgspec.DecodeError as error:
            raise EvaluationFault(f"line {number} of {path} is no answer: {error}") from error
        if len(line.ids) != len(line.confidences):
            raise EvaluationFault(f"line {number} of {path} needs a confidence for each id")
        answers.setdefault(line.arm, {}).setdefault((line.set, line.case), []).append(line)
    return answers


def write_answers(path: Path, answers: Sequence[AnswerLine]) -> None:
    """Write a file that ``read_answers`` reads."""
    lines = b"".join(msgspec.json.encode(answer) + b"\n" for answer in answers)
    path.write_bytes(gzip.compress(lines, mtime=0))


class RecordedArm:
    """A system of ``eval`` whose answers are on file."""

    def __init__(
        self, name: str, lines: Mapping[CaseKey, Sequence[AnswerLine]], reader: CaseReader
    ) -> None:
        self.name = name
        self.info = SystemInfo(name=name, way="ids of a file", model=DEFAULT_MODEL, details={})
        self._lines = lines
        self._reader = reader

    @asynccontextmanager
    async def ready(self) -> AsyncIterator["RecordedArm"]:
        """Be ready at once."""
        yield self

    async def fill(self, case: Case) -> Answer:
        """Return the recorded answer."""
        task, lines = self._reader.read(case), self._lines.get((case.set, case.id), ())
        if isinstance(task, NoSuggestion):
            return Answer(text="", reason=task.reason, ms=0.0)
        return _answer(self._reader.text, task, lines)


def _answer(text: FimTokenizer, task: CaseTask, lines: Sequence[AnswerLine]) -> Answer:
    """Return what an editor would get, as the direct client of the evaluation does."""
    plan = task.plan

    def read(filled: Filled) -> Suggestion | NoSuggestion:
        if not _is_bound(text, task, lines[filled.id].ids):
            return UNBOUND
        return plan.read(filled) if task.case.is_range else plan.read_at_cursor(filled)

    attempts = Attempts(read)
    for number, line in zip(attempts, lines, strict=False):
        attempts.take(filled_with(text, task, line, number))
    found = attempts.passed[0] if attempts.passed else attempts.rejection
    if task.case.is_range and isinstance(found, Suggestion):
        found = plan.at_cursor(found)
    cost = attempts.cost or EngineCost()
    return answer_of(found or NoSuggestion(reason="not answered"), cost, cost.ms)


def filled_with(text: FimTokenizer, task: CaseTask, line: AnswerLine, number: int) -> Filled:
    """Return the engine's answer with these tokens."""
    ids, hole = line.ids[: task.fill.request.max_tokens], HoleText(text, task.fill)
    num_needed = hole.num_until_end(ids)
    ids = ids[:num_needed]
    tokens = hole.tokens(ids, line.confidences, num_committed=len(ids))
    return Filled(
        id=number,
        text="".join(token.text for token in tokens),
        tokens=tokens,
        num_forwards=line.num_forwards,
        ms=Timing(queue=0.0, prefill=0.0, denoise=line.ms, total=line.ms),
        mean_entropy=line.mean_entropy,
        finish_reason="max_tokens" if num_needed is None else "end_of_hole",
        model=DEFAULT_MODEL,
        num_prefilled=len(task.fill.context),
        num_reused=0,
    )


def _is_bound(text: FimTokenizer, task: CaseTask, ids: Sequence[int]) -> bool:
    """Whether the text begins with the healed bytes, as the engine has it by choosing tokens."""
    written = b""
    for token in ids[: task.fill.request.max_tokens]:
        if len(written) >= len(task.fill.healed) or token in text.end_ids:
            break
        written += text.bytes_of(token)
    return written.startswith(task.fill.healed)
