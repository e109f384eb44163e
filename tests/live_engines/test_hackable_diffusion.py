"""Hackable Diffusion's steps, planner and stop rule fill holes with the real default model.

JAX runs on the processor. The library is in an environment of its own, which our Python sees here.
"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from checkout import ROOT

SERVER = ROOT / "build" / "servers" / "hackable-diffusion"
FILLS = ROOT / "tests" / "live_engines" / "hackable_fills.py"

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def fills() -> dict[str, dict[str, Any]]:
    (packages,) = SERVER.glob("lib/python3*/site-packages")
    support = ROOT / "tests" / "support"
    done = subprocess.run(
        [sys.executable, FILLS],
        env=os.environ | {"PYTHONPATH": f"{packages}{os.pathsep}{support}", "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=1100,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


def test_given_and_unmasked_tokens_hold_at_each_step(fills: dict[str, dict[str, Any]]) -> None:
    assert all(one["pins_hold"] for holes in fills.values() for one in holes.values())


def test_a_line_that_the_model_is_sure_of_is_the_same(fills: dict[str, dict[str, Any]]) -> None:
    sure = [name for name, one in fills["own"].items() if one["least_sure"] > 0.5]
    assert sure
    for name in sure:
        for schedule in ("theirs", "theirs, stops sooner"):
            assert fills[schedule][name]["text"] == fills["own"][name]["text"]


def test_from_the_left_both_take_the_same_steps(fills: dict[str, dict[str, Any]]) -> None:
    """With the leftmost position in each step, nothing is left to a choice."""
    ours, theirs = fills["own, leftmost"], fills["theirs, leftmost"]
    assert [(one["text"], one["num_forwards"]) for one in ours.values()] == [
        (one["text"], one["num_forwards"]) for one in theirs.values()
    ]


def test_the_stop_rule_ends_a_canvas_sooner(fills: dict[str, dict[str, Any]]) -> None:
    def num_forwards(schedule: str) -> int:
        return sum(one["num_forwards"] for one in fills[schedule].values())

    def num_stopped_early(schedule: str) -> int:
        return sum(one["num_stopped_early"] for one in fills[schedule].values())

    assert num_stopped_early("theirs, stops sooner") > num_stopped_early("theirs")
    assert num_forwards("theirs, stops sooner") < num_forwards("theirs")
