"""From trials to the figures of each settle mode: pure arithmetic."""

from collections.abc import Mapping, Sequence

import msgspec

from intarsia.cli.eval_trials import Answer, Trial
from intarsia.cli.figures import percentile
from intarsia.engine.ipc.messages import SettleMode

Verdicts = Mapping[SettleMode, Sequence[bool]]
"""Per mode and hole, whether the program ran with that answer."""


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds; None where nothing was answered."""

    p50: float | None
    p95: float | None


class ModeFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One settle mode. Shares are of all holes; ``total`` is the cold prefill and the denoising."""

    settle: SettleMode
    exact: float
    pass_at_1: float | None  # None: no program was run
    empty: float
    failures: int
    passes: int  # model passes after the prefill
    passes_to_first: float | None
    tokens: int
    tokens_per_pass: float | None
    same_as_first: int
    denoise_ms: Spread
    total_ms: Spread


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """All modes on the same holes."""

    holes: int
    model: str | None
    prefill_ms: Spread  # cold, once a hole, the same for all modes
    prefilled_tokens: float | None  # mean a hole; what earlier holes share with it is not read anew
    failures: int  # answers that the engine did not give, of the modes and of the prefills
    modes: tuple[ModeFigures, ...]


def evaluate(
    trials: Sequence[Trial], modes: Sequence[SettleMode], verdicts: Verdicts | None = None
) -> Evaluation:
    """Return the figures of every mode, the first being what the others are compared with."""
    reads = [trial.read for trial in trials if trial.read]
    return Evaluation(
        holes=len(trials),
        model=reads[0].model if reads else None,
        prefill_ms=_spread([read.ms.prefill for read in reads]),
        prefilled_tokens=_ratio(sum(read.num_prefilled for read in reads), len(reads)),
        failures=sum(len({*modes} - {*t.answers}) + (t.read is None) for t in trials),
        modes=tuple(
            _mode(trials, mode, modes[0], verdicts[mode] if verdicts else None) for mode in modes
        ),
    )


def _mode(
    trials: Sequence[Trial], mode: SettleMode, first: SettleMode, passed: Sequence[bool] | None
) -> ModeFigures:
    answered = [(trial, trial.answers[mode]) for trial in trials if mode in trial.answers]
    passes, tokens = _num_passes(trials, mode), sum(len(a.filled.tokens) for _, a in answered)
    return ModeFigures(
        settle=mode,
        exact=sum(_is_exact(trial, a) for trial, a in answered) / len(trials),
        pass_at_1=None if passed is None else sum(passed) / len(trials),
        empty=sum(not a.text.strip() for _, a in answered) / len(trials),
        failures=len(trials) - len(answered),
        passes=passes,
        passes_to_first=_ratio(passes, _num_passes(trials, first)),
        tokens=tokens,
        tokens_per_pass=_ratio(tokens, passes),
        same_as_first=sum(_is_same(trial, a, first) for trial, a in answered),
        denoise_ms=_spread([a.filled.ms.denoise for _, a in answered]),
        total_ms=_spread(
            [trial.read.ms.prefill + a.filled.ms.denoise for trial, a in answered if trial.read]
        ),
    )


def _is_exact(trial: Trial, answer: Answer) -> bool:
    return answer.text.strip() == trial.truth.strip()


def _is_same(trial: Trial, answer: Answer, first: SettleMode) -> bool:
    return first in trial.answers and trial.answers[first].text == answer.text


def _num_passes(trials: Sequence[Trial], mode: SettleMode) -> int:
    return sum(trial.answers[mode].filled.steps for trial in trials if mode in trial.answers)


def _spread(ms: Sequence[float]) -> Spread:
    if not ms:
        return Spread(p50=None, p95=None)
    return Spread(p50=percentile(ms, 50), p95=percentile(ms, 95))


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
