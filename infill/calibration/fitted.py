"""The fitted calibrations, by the model's name. A program writes this: do not edit it.

``python -m intarsia.research.calibration fit`` fits and writes them (research/calibration).
qwen2.5-coder-0.5b: 189 suggestions in 54 files and problems, held-out expected
calibration error 0.035.
"""

from collections.abc import Mapping

from intarsia.infill.calibration.calibration import Calibration

CALIBRATIONS: Mapping[str, Calibration] = {
    "qwen2.5-coder-0.5b": Calibration(
        bias=2.5382,
        total=1.4295,
        weakest=1.1895,
        end=1.2239,
    ),
}
