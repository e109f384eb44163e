"""How probable it is that a body that was asked for is right, by the model's name.

A program writes this: do not edit it. ``python -m intarsia_research.calibration fit-bodies`` fits
it (research/calibration/bodies.py). qwen2.5-coder-0.5b: 73 of 151 bodies are right.
"""

from collections.abc import Mapping

from intarsia.infill.calibration import Calibration

BODIES: Mapping[str, Calibration] = {
    "qwen2.5-coder-0.5b": Calibration(bias=1.2018, total=0.2546, mean=4.7218),
}
