"""Draw the log of a training run as a picture."""

import json
from pathlib import Path
from typing import Any


def draw_curves(log: Path, picture: Path) -> None:
    """Draw the loss and the held-out figures over the minutes."""
    from matplotlib.figure import Figure

    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    steps = [row for row in rows if "loss" in row]
    held_out = [row for row in rows if "held_out" in row]
    figure = Figure(figsize=(9, 4), layout="constrained")
    losses, shares = figure.subplots(1, 2)
    losses.plot(_minutes(steps), _smoothed([row["loss"] for row in steps]), label="training")
    losses.plot(
        _minutes(held_out), [row["held_out"]["loss"] for row in held_out], "o-", label="held out"
    )
    losses.set(xlabel="minutes", ylabel="loss (nats)")
    losses.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize="small")
    for name in held_out[0]["held_out"] if held_out else ():
        if not name.startswith("loss"):
            values = [row["held_out"][name] for row in held_out]
            shares.plot(_minutes(held_out), values, "o-", label=name.replace("_", " "))
    shares.set(xlabel="minutes", ylabel="on held-out holes")
    shares.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize="small")
    figure.savefig(picture)


def _minutes(rows: list[dict[str, Any]]) -> list[float]:
    return [row["seconds"] / 60 for row in rows]


def _smoothed(values: list[float], keep: float = 0.9) -> list[float]:
    smooth: list[float] = []
    for value in values:
        smooth.append(keep * smooth[-1] + (1 - keep) * value if smooth else value)
    return smooth
