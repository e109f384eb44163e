"""Measures a calibration on held-out holes: each one is judged without any hole of its group."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from intarsia.infill.calibration import LEVELS, Calibration, shown_part
from intarsia.infill.filling.judged import end_rule
from intarsia_research.calibration.examples import Suggested
from intarsia_research.calibration.fit import NUM_FOLDS, fit, folds
from intarsia_research.evaluation.intervals import Estimate, Resampling

NUM_BINS = 5
"""Bins of equal count. With more bins, chance alone gives a greater error."""

_NUM_DRAWS = 1000
_SEED = 20261124

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bin:
    """Suggestions of about the same probability, and the share that is kept."""

    probability: float  # mean
    kept: Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelFigures:
    """What a threshold shows of the held-out suggestions, and how much of that is kept."""

    name: str
    percent: int
    shown: Estimate
    kept: Estimate | None  # of what is shown; None: nothing is
    num_cut: int  # shown in part
    num_kept_cut: int
    num_right_hidden: int  # right texts that are hidden altogether


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldOut:
    """All figures of a calibration."""

    num_suggested: int
    num_groups: int
    error: float  # expected calibration error
    error_interval: tuple[float, float]  # 95 %, groups resampled
    error_by_chance: float  # of probabilities that are right, mean of draws
    raw_error: float  # of the plain product of all confidences
    bins: tuple[Bin, ...]
    levels: tuple[LevelFigures, ...]


def measure(examples: Sequence[Suggested], seed: int) -> HeldOut:
    """Return the held-out figures; the folds are drawn by this seed."""
    calibrations = held_out_calibrations(examples, seed)
    kept = np.array([it.is_kept for it in examples], dtype=np.float64)
    probabilities = np.array(
        [one.probability(it.evidence) for one, it in zip(calibrations, examples, strict=True)]
    )
    raw = np.exp([it.evidence.total + it.evidence.end for it in examples])
    groups = [it.group for it in examples]
    return HeldOut(
        num_suggested=len(examples),
        num_groups=len(set(groups)),
        error=calibration_error(probabilities, kept),
        error_interval=_interval(probabilities, kept, groups),
        error_by_chance=_by_chance(probabilities),
        raw_error=calibration_error(raw, kept),
        bins=_bins(probabilities, examples),
        levels=tuple(
            _level(name, percent, examples, calibrations)
            for name, percent in (("everything", 0), *LEVELS.items())
        ),
    )


def held_out_calibrations(examples: Sequence[Suggested], seed: int) -> list[Calibration]:
    """Return for each example the calibration that was fitted on the groups of other folds."""
    fold_of = folds([it.group for it in examples], seed)
    fitted = []
    for number in range(NUM_FOLDS):
        others = [it for it, fold in zip(examples, fold_of, strict=True) if fold != number]
        fitted.append(fit([it.evidence for it in others], [it.is_kept for it in others]))
    return [fitted[fold] for fold in fold_of]


def calibration_error(probabilities: Floats, kept: Floats) -> float:
    """Return the mean distance of a bin's probability from its share kept, by the bin's count."""
    errors = [
        len(rows) * abs(float(probabilities[rows].mean() - kept[rows].mean()))
        for rows in _rows_of_bins(probabilities)
    ]
    return sum(errors) / len(probabilities)


def _rows_of_bins(probabilities: Floats) -> list[npt.NDArray[np.int64]]:
    order = np.argsort(probabilities, kind="stable")
    return [rows for rows in np.array_split(order, NUM_BINS) if len(rows)]


def _interval(probabilities: Floats, kept: Floats, groups: Sequence[str]) -> tuple[float, float]:
    draw = np.random.default_rng(_SEED)
    rows_of = [np.flatnonzero(np.array(groups) == name) for name in sorted(set(groups))]

    def drawn() -> float:
        chosen = draw.integers(len(rows_of), size=len(rows_of))
        rows = np.concatenate([rows_of[number] for number in chosen])
        return calibration_error(probabilities[rows], kept[rows])

    low, high = np.percentile([drawn() for _ in range(_NUM_DRAWS)], [2.5, 97.5])
    return float(low), float(high)


def _by_chance(probabilities: Floats) -> float:
    draw = np.random.default_rng(_SEED)
    draws = (draw.random(len(probabilities)) < probabilities for _ in range(_NUM_DRAWS))
    return float(np.mean([calibration_error(probabilities, it.astype(np.float64)) for it in draws]))


def _bins(probabilities: Floats, examples: Sequence[Suggested]) -> tuple[Bin, ...]:
    bins = []
    for rows in _rows_of_bins(probabilities):
        held = [examples[row] for row in rows]
        kept = _share([it.is_kept for it in held], held)
        assert kept is not None, "a bin has a suggestion"
        bins.append(Bin(probability=float(probabilities[rows].mean()), kept=kept))
    return tuple(bins)


def _level(
    name: str,
    percent: int,
    examples: Sequence[Suggested],
    calibrations: Sequence[Calibration],
) -> LevelFigures:
    lengths = [
        _shown_length(it, one, percent) for it, one in zip(examples, calibrations, strict=True)
    ]
    shown = [(it, length) for it, length in zip(examples, lengths, strict=True) if length]
    cut = [(it, length) for it, length in shown if length < len(it.text)]
    share = _share([length > 0 for length in lengths], examples)
    assert share is not None, "there is a suggestion"
    return LevelFigures(
        name=name,
        percent=percent,
        shown=share,
        kept=_share([it.keeps(length) for it, length in shown], [it for it, _ in shown]),
        num_cut=len(cut),
        num_kept_cut=sum(it.keeps(length) for it, length in cut),
        num_right_hidden=sum(
            it.is_kept for it, length in zip(examples, lengths, strict=True) if not length
        ),
    )


def _share(flags: Sequence[bool], examples: Sequence[Suggested]) -> Estimate | None:
    return Resampling([it.group for it in examples]).share(flags)


def _shown_length(example: Suggested, calibration: Calibration, percent: int) -> int:
    tokens, end = example.tokens, example.end_confidence
    rule = end_rule(example.plan, None)
    return shown_part(tokens, end, calibration.while_typing, percent, rule).length
