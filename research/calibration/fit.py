"""Fits a calibration: logistic regression with weights that are not negative, and a small penalty.

Groups of examples, such as all holes of a file, are fitted or held out as a whole.
"""

import math
import random
from collections.abc import Sequence

import torch

from intarsia.infill.calibration import Calibration, Evidence

NUM_FOLDS = 5

_PENALTY = 0.01  # of the squared logarithm of each weight, beside the mean loss in nats
_MAX_STEPS = 200


_ALL_TEXTS = ("total", "weakest", "end")


def fit(
    evidence: Sequence[Evidence], is_kept: Sequence[bool], fields: Sequence[str] = _ALL_TEXTS
) -> Calibration:
    """Return the likeliest coefficients of these fields of the evidence; the others have none.

    Raise ValueError without a kept and an unkept text.
    """
    if len(set(is_kept)) < 2:
        raise ValueError("texts of both kinds are needed, kept and not kept")
    known = [[getattr(it, field) for field in fields] for it in evidence]
    rows = torch.tensor(known, dtype=torch.float64)
    kept = torch.tensor(is_kept, dtype=torch.float64)
    bias = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    start = torch.full((len(fields),), math.log(0.5), dtype=torch.float64)
    logs = start.requires_grad_()  # of the weights
    optimizer = torch.optim.LBFGS([bias, logs], max_iter=_MAX_STEPS, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        odds = bias + rows @ logs.exp()
        fault = torch.nn.functional.binary_cross_entropy_with_logits(odds, kept)
        total = fault + _PENALTY * (logs**2).sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    weights = dict.fromkeys(_ALL_TEXTS, 0.0) | dict(zip(fields, logs.exp().tolist(), strict=True))
    return Calibration(bias=bias.item(), **weights)


def folds(groups: Sequence[str], seed: int) -> list[int]:
    """Return the number of the fold that each example is held out in; a group is in one fold."""
    names = sorted(set(groups))
    random.Random(seed).shuffle(names)
    fold_of = {name: number % NUM_FOLDS for number, name in enumerate(names)}
    return [fold_of[group] for group in groups]
