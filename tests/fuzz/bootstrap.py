"""Finds the modules of the tests when a script of this folder is run without pytest."""

import sys
import tomllib
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]


def prepare() -> None:
    """Put the same folders on the path as pytest does."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = settings["tool"]["pytest"]["ini_options"]["pythonpath"]
    sys.path[:0] = [str(ROOT / folder) for folder in folders]
    warnings.simplefilter("ignore")
