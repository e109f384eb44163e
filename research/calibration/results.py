"""What a fit leaves: the module with its coefficients, a table of figures, and a diagram."""

from pathlib import Path

from intarsia.infill.calibration import Calibration
from intarsia_research.calibration.bodies import FittedBodies
from intarsia_research.calibration.held_out import HeldOut, LevelFigures
from intarsia_research.evaluation.intervals import Estimate

_MODULE = '''"""The fitted calibrations, by the model's name. A program writes this: do not edit it.

``python -m intarsia_research.calibration fit`` fits and writes them (research/calibration).
{model}: {num_suggested} suggestions in {num_groups} files and problems, held-out expected
calibration error {error:.3f}.
"""

from collections.abc import Mapping

from intarsia.infill.calibration import Calibration

CALIBRATIONS: Mapping[str, Calibration] = {{
    "{model}": Calibration(
        bias={bias:.4f},
        total={total:.4f},
        weakest={weakest:.4f},
        end={end:.4f},
    ),
}}
'''


_BODIES = '''"""How probable it is that a body that was asked for is right, by the model's name.

A program writes this: do not edit it. ``python -m intarsia_research.calibration fit-bodies`` fits
it (research/calibration/bodies.py). {model}: {num_right} of {num_bodies} bodies are right.
"""

from collections.abc import Mapping

from intarsia.infill.calibration import Calibration

BODIES: Mapping[str, Calibration] = {{
    "{model}": Calibration(bias={bias:.4f}, total={total:.4f}, mean={mean:.4f}),
}}
'''


def bodies_module(model: str, fitted: FittedBodies) -> str:
    """Return the source of ``infill/fitted_bodies.py``."""
    return _BODIES.format(
        model=model,
        num_bodies=fitted.num_bodies,
        num_right=fitted.num_right,
        bias=fitted.calibration.bias,
        total=fitted.calibration.total,
        mean=fitted.calibration.mean,
    )


def fitted_module(model: str, calibration: Calibration, figures: HeldOut) -> str:
    """Return the source of ``infill/fitted_calibrations.py``."""
    return _MODULE.format(
        model=model,
        num_suggested=figures.num_suggested,
        num_groups=figures.num_groups,
        error=figures.error,
        bias=calibration.bias,
        total=calibration.total,
        weakest=calibration.weakest,
        end=calibration.end,
    )


def as_text(figures: HeldOut) -> str:
    """Return the figures as lines of text."""
    low, high = figures.error_interval
    lines = [
        f"{figures.num_suggested} suggestions in {figures.num_groups} files and problems",
        f"expected calibration error {figures.error:.3f} ({low:.3f} to {high:.3f}), "
        f"by chance {figures.error_by_chance:.3f}, of the plain product {figures.raw_error:.3f}",
        *(f"  {one.probability:.2f} → {_in_words(one.kept)} kept" for one in figures.bins),
        *(_level_in_words(level) for level in figures.levels),
    ]
    return "\n".join(lines)


def _level_in_words(level: LevelFigures) -> str:
    kept = "nothing" if level.kept is None else _in_words(level.kept)
    return (
        f"{level.name} ({level.percent} %): shown {_in_words(level.shown)}, kept of these {kept}; "
        f"cut {level.num_cut}, kept of these {level.num_kept_cut}; "
        f"right and hidden {level.num_right_hidden}"
    )


def _in_words(estimate: Estimate) -> str:
    low, high = 100 * estimate.low, 100 * estimate.high
    return f"{100 * estimate.value:.1f} % ({low:.0f}–{high:.0f}) of {estimate.of}"


def draw(figures: HeldOut, file: Path) -> None:
    """Draw the reliability diagram as SVG: each bin's probability and the share that is kept."""
    from matplotlib import rc_context  # slow to import
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 100], [0, 100], color="#999999", linestyle="--", linewidth=1)
    x = [100 * one.probability for one in figures.bins]
    y = [100 * one.kept.value for one in figures.bins]
    below = [100 * (one.kept.value - one.kept.low) for one in figures.bins]
    above = [100 * (one.kept.high - one.kept.value) for one in figures.bins]
    axes.errorbar(x, y, yerr=[below, above], fmt="o-", color="#0072b2", capsize=3)
    axes.set(xlim=(0, 100), ylim=(0, 100), aspect="equal")
    axes.set_xlabel("told: probability of being kept, %")
    axes.set_ylabel("kept, % (95 % intervals)")
    axes.set_title(f"{figures.num_suggested} held-out suggestions, {len(figures.bins)} bins")
    axes.grid(alpha=0.3)
    # Text stays text, and the same figures give the same file.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "intarsia"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
