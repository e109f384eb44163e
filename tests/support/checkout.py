"""Paths in this checkout that tests use."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SUPPORT = ROOT / "tests" / "support"
HUMANEVAL = ROOT / "tests" / "data" / "human-eval-infilling"
