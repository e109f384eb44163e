"""Whole pipelines as TOML: source with marks, what the model wrote, and what the file becomes."""

import tomllib
from pathlib import Path

import pytest
from drawn_hole import drawn_hole

CASES = [
    pytest.param(case, id=f"{path.stem}-{case['name']}")
    for path in sorted((Path(__file__).parent / "cases").glob("*.toml"))
    for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]
]


@pytest.mark.parametrize("case", CASES)
def test_case(case):
    drawn = drawn_hole(case["source"], case["language"])
    assert drawn.hole.kind == case["kind"]
    assert drawn.draw(case["model"]) == case["expected"]
