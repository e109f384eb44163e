"""Measures what a tuning changes: the same held-out holes are filled without it and with it."""

import asyncio
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rapidfuzz.distance import Indel

from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.errors import FillFailed
from intarsia.infill.filling.attempts import Attempts
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import plan_at_cursor
from intarsia.infill.languages import language_for_id
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.lines import with_plain_newlines
from intarsia.training.cut_holes import CUT_HOLE_KINDS, CutHole, CutHoleKind, cut_holes
from intarsia.training.repository_files import RepositoryFault, SourceFile

_DEADLINE_MS = 60_000
_SLACK_S = 30.0
_FATAL = ("model", "out_of_memory")
_MAX_FAILURES = 5  # one after the other


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldOutHole:
    """A hole of a file that is not learnt from."""

    file: SourceFile
    cut: CutHole


Judged: TypeAlias = tuple[bool, float]  # is it right; similarity to the true text, 0 to 1


@dataclass(frozen=True, kw_only=True, slots=True)
class TuningEffect:
    """How many holes are filled exactly, and the mean similarities."""

    num_holes: int
    exact_without: int
    exact_with: int
    only_without: int  # holes that are right on this side only
    only_with: int
    p: float  # exact two-sided McNemar test
    similarity_without: float
    similarity_with: float

    @property
    def is_worse(self) -> bool:
        return self.exact_with < self.exact_without


def draw_held_out(files: Sequence[SourceFile], *, limit: int, seed: int) -> Sequence[HeldOutHole]:
    """Draw holes of each kind in turn, each time of the next file. No two of a file overlap.

    Raises RepositoryFault if there is none to draw.
    """
    rng = random.Random(seed)
    files = files[:limit]
    left = [cut_holes(file.text, language_for_id(file.language)) for file in files]
    for holes in (holes for by_kind in left for holes in by_kind.values()):
        rng.shuffle(holes)
    taken: list[list[CutHole]] = [[] for _ in files]
    for turn in range(limit):
        for place, by_kind in enumerate(left):
            hole = _next_hole(by_kind, taken[place], first_kind=turn + place)
            if hole is not None and sum(map(len, taken)) < limit:
                taken[place].append(hole)
    drawn = [
        HeldOutHole(file=file, cut=cut)
        for file, cuts in zip(files, taken, strict=True)
        for cut in cuts
    ]
    if not drawn:
        raise RepositoryFault("no hole in the held-out files: name a folder with more code")
    return drawn


async def measure(
    holes: Sequence[HeldOutHole],
    *,
    model: str,
    tuning: Path,
    on_progress: Callable[[str, float | None], None],
) -> TuningEffect:
    """Fill the holes through the user's engine, first without the tuning, and compare.

    Raises EngineError if the engine ends, or several holes in a row get no answer.
    """
    sides: list[Sequence[Judged]] = []
    for name, full_model in (("without the tuning", model), ("with it", f"{model}+{tuning}")):

        def report(num_filled: int, *, name: str = name, before: int = len(sides)) -> None:
            share = (before + num_filled / len(holes)) / 2
            on_progress(f"filling held-out holes {name}: {num_filled} of {len(holes)}", share)

        texts = await _fill_all(holes, full_model, report)
        sides.append([judged(hole, text) for hole, text in zip(holes, texts, strict=True)])
    return compared(*sides)


def judged(hole: HeldOutHole, text: str) -> Judged:
    """Compare an answer with the true text, apart from blanks at the end (in a block, of lines)."""
    truth = _as_judged(hole.file.text[hole.cut.start : hole.cut.end], hole)
    text = _as_judged(text, hole)
    return text == truth, Indel.normalized_similarity(text, truth)


def compared(without: Sequence[Judged], with_tuning: Sequence[Judged]) -> TuningEffect:
    """Compare both sides, hole by hole."""
    pairs = [(one, other) for (one, _), (other, _) in zip(without, with_tuning, strict=True)]
    only_without, only_with = pairs.count((True, False)), pairs.count((False, True))
    return TuningEffect(
        num_holes=len(pairs),
        exact_without=sum(is_exact for is_exact, _ in without),
        exact_with=sum(is_exact for is_exact, _ in with_tuning),
        only_without=only_without,
        only_with=only_with,
        p=mcnemar(only_without, only_with),
        similarity_without=sum(similarity for _, similarity in without) / len(pairs),
        similarity_with=sum(similarity for _, similarity in with_tuning) / len(pairs),
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of a split of discordant pairs, by the exact binomial test."""
    discordant = only_first + only_second
    tail = sum(math.comb(discordant, k) for k in range(min(only_first, only_second) + 1))
    p: float = 2 * tail / 2**discordant
    return min(1.0, p)


def _next_hole(
    by_kind: Mapping[CutHoleKind, list[CutHole]], taken: Sequence[CutHole], *, first_kind: int
) -> CutHole | None:
    for step in range(len(CUT_HOLE_KINDS)):
        holes = by_kind[CUT_HOLE_KINDS[(first_kind + step) % len(CUT_HOLE_KINDS)]]
        while holes:
            hole = holes.pop()
            if all(hole.end <= other.start or other.end <= hole.start for other in taken):
                return hole
    return None


async def _fill_all(
    holes: Sequence[HeldOutHole], model: str, on_filled: Callable[[int], None]
) -> list[str]:
    """Return the answers. A hole without one counts as filled with nothing."""
    options = FillOptions(model=model, deadline_ms=_DEADLINE_MS, is_fresh=True)
    texts: list[str] = []
    num_failures = 0
    async with EngineClient(name="train") as client:
        await client.preload(model)
        for hole in holes:
            try:
                async with asyncio.timeout(_DEADLINE_MS / 1000 + _SLACK_S):
                    texts.append(await _fill(client, hole, options))
                num_failures = 0
            except (FillFailed, TimeoutError) as failure:
                num_failures += 1
                is_fatal = isinstance(failure, FillFailed) and failure.code in _FATAL
                if is_fatal or num_failures == _MAX_FAILURES:
                    raise
                texts.append("")
            on_filled(len(texts))
    return texts


async def _fill(client: EngineClient, hole: HeldOutHole, options: FillOptions) -> str:
    """Fill a hole as an editor asks for it at a cursor."""
    text, cut = hole.file.text, hole.cut
    language = language_for_id(hole.file.language)
    plan = plan_at_cursor(text[: cut.start] + text[cut.end :], cut.start, language, options)
    if isinstance(plan, NoSuggestion):
        return ""
    attempts = Attempts(plan.read_at_cursor)
    for alternative in attempts:
        attempts.take(await client.fill(plan.request(options, alternative=alternative)))
    return attempts.passed[0].text if attempts.passed else ""


def _as_judged(text: str, hole: HeldOutHole) -> str:
    plain = with_plain_newlines(text)
    if hole.cut.kind == "block":
        plain = "\n".join(line.rstrip() for line in plain.split("\n"))
    return plain.rstrip()
