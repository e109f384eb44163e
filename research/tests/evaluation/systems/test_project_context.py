"""What a system reads of other files: never the text of the hole, from wherever it could come."""

from dataclasses import replace
from pathlib import Path

import pytest
from sample_cases import case

from intarsia.infill.filling.plan import FillOptions, FillPlan
from intarsia.workspace.context import similar_passage
from intarsia.workspace.context.chunk import ChunkOptions
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.systems.client import plan_case
from intarsia_research.evaluation.systems.project_context import WithContext
from intarsia_research.holes.cut_project import CutProjects

HELPERS = '''"""Helpers."""


def weigh(parcel, unit, rounding):
    """Return the weight."""
    return parcel.weight * unit


class Parcel:
    weight: float
'''
BEFORE = """from shop.helpers import Parcel, weigh


def unusual_total_weight(parcels, unit):
    weights = []
    for parcel in parcels:
        rounded = """
TRUTH = "weigh(parcel, unit, rounding='unusual')"
AFTER = """
        weights.append(rounded)
    return sum(weights)


def unusual_mean_weight(parcels, unit):
    return unusual_total_weight(parcels, unit) / len(parcels)
"""
OPTIONS = FillOptions()
ALL = ChunkOptions()


def make_shop(root: Path, *copies: str) -> Case:
    """Write a package whose file has the whole text, and return the case of its hole."""
    for path in ("shop/totals.py", *copies):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(BEFORE + TRUTH + AFTER)
    (root / "shop/__init__.py").write_text("")
    (root / "shop/helpers.py").write_text(HELPERS)
    return replace(case(BEFORE, TRUTH, AFTER, path="shop/totals.py"), root=root, name="weigh")


def plan_of(hole: Case) -> FillPlan:
    plan = plan_case(hole, OPTIONS)
    assert isinstance(plan, FillPlan)
    return plan


@pytest.fixture
def projects():
    projects = CutProjects()
    yield projects
    projects.close()


@pytest.mark.parametrize("copies", [(), ("lib/python/shop/totals.py", "old/totals.py")])
def test_no_chunk_has_the_text_of_the_hole(projects, tmp_path, monkeypatch, copies):
    monkeypatch.setattr(similar_passage, "MIN_SIMILARITY", 0.0)
    hole = make_shop(tmp_path / "shop-1.0", *copies)
    chunks = projects.chunks(hole.root, hole.path, plan_of(hole), ALL)
    assert any("def weigh(parcel, unit, rounding)" in chunk.text for chunk in chunks)
    assert not [chunk for chunk in chunks if "unusual" in chunk.text]


def test_a_case_before_it_does_not_stay_cut(projects: CutProjects, tmp_path: Path) -> None:
    hole = make_shop(tmp_path / "shop-1.0")
    projects.chunks(hole.root, hole.path, plan_of(hole), ChunkOptions())
    text = "from shop.totals import unusual_total_weight\n\nx = "
    user = replace(case(text, "unusual_total_weight([], 1)", path="shop/user.py"), root=hole.root)
    chunks = projects.chunks(user.root, user.path, plan_of(user), ChunkOptions())
    assert any("def unusual_total_weight(parcels, unit)" in chunk.text for chunk in chunks)


def test_a_file_of_its_own_has_no_context(projects: CutProjects) -> None:
    alone, context = case(BEFORE, TRUTH, AFTER), WithContext(projects=projects, options=ALL)
    assert context.project_for(alone, plan_of(alone)) is None


def test_nothing_is_left_of_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    projects = CutProjects()
    hole = make_shop(tmp_path / "shop-1.0")
    projects.chunks(hole.root, hole.path, plan_of(hole), ChunkOptions())
    assert list((tmp_path / "t").iterdir())
    projects.close()
    assert not list((tmp_path / "t").iterdir())
    assert {path.name for path in (tmp_path / "shop-1.0").rglob("*")} == {
        *("shop", "totals.py", "__init__.py", "helpers.py")
    }
