"""The fitted calibrations, by the model's name. A program writes this: do not edit it.

``python -m intarsia_research.calibration fit`` fits and writes them (research/calibration).
qwen2.5-coder-0.5b: 869 suggestions in 260 files and problems, held-out expected
calibration error 0.038.
"""

from collections.abc import Mapping

from intarsia.infill.calibration import Calibration

CALIBRATIONS: Mapping[str, Calibration] = {
    "qwen2.5-coder-0.5b": Calibration(
        bias=2.4537,
        total=1.6232,
        weakest=1.2309,
        end=1.0120,
    ),
}
