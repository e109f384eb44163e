"""What a system reads of other files: never the text of the hole, from wherever it could come."""

from dataclasses import replace
from pathlib import Path

import pytest
from sample_cases import case

from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import ScoreChunks
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import FillPlan
from intarsia.research.evaluation.case import Case
from intarsia.research.evaluation.systems.client import plan_case
from intarsia.research.evaluation.systems.project_context import CaseContexts, ContextOptions
from intarsia.research.holes.cut_project import CutProjects
from intarsia.workspace.context.options import ChunkOptions

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
def test_no_chunk_has_the_text_of_the_hole(projects: CutProjects, tmp_path: Path, copies) -> None:
    hole = make_shop(tmp_path / "shop-1.0", *copies)
    chunks = projects.chunks(hole.root, hole.path, plan_of(hole), ChunkOptions(min_similarity=0.0))
    assert any("def weigh(parcel, unit, rounding)" in chunk.text for chunk in chunks)
    assert not [chunk for chunk in chunks if "unusual" in chunk.text]


def test_a_case_before_it_does_not_stay_cut(projects: CutProjects, tmp_path: Path) -> None:
    hole = make_shop(tmp_path / "shop-1.0")
    projects.chunks(hole.root, hole.path, plan_of(hole), ChunkOptions())
    text = "from shop.totals import unusual_total_weight\n\nx = "
    user = replace(case(text, "unusual_total_weight([], 1)", path="shop/user.py"), root=hole.root)
    chunks = projects.chunks(user.root, user.path, plan_of(user), ChunkOptions())
    assert any("def unusual_total_weight(parcels, unit)" in chunk.text for chunk in chunks)


def test_a_file_of_its_own_has_no_chunks(projects: CutProjects) -> None:
    alone = case(BEFORE, TRUTH, AFTER)
    assert projects.chunks(alone, plan_of(alone), OPTIONS, ChunkOptions()) == ()


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
        *("shop", "totals.py", "__init__.py", "helpers.py"),
    }


class Scores(EngineClient):
    """Gives the n-th chunk a gain of n tenths, and counts how often it is asked."""

    def __init__(self) -> None:
        self.num_asked = 0

    async def score_chunks(self, request: ScoreChunks) -> tuple[float, ...]:
        self.num_asked += 1
        return tuple(number / 10 for number, _ in enumerate(request.project.chunks))


async def test_a_gate_keeps_the_chunks_that_gain_more(tmp_path: Path) -> None:
    hole = make_shop(tmp_path / "shop-1.0")
    (tmp_path / "shop-1.0/shop/similar.py").write_text(
        "def mean_weight(parcels, unit):\n    weights = []\n    for parcel in parcels:\n"
        "        weights.append(parcel.weight)\n    return sum(weights)\n"
    )
    plan, scores, contexts = plan_of(hole), Scores(), CaseContexts()
    kept = []
    for gate in (None, -1.0, 0.0, 0.05, 5.0):
        options = ContextOptions(chunks=ChunkOptions(), gate=gate)
        project = await contexts.context_for(hole, plan, OPTIONS, options, scores)
        kept.append([chunk.path for chunk in project.chunks] if project else [])
    contexts.close()
    everything = kept[0]
    assert len(everything) > 1
    assert kept == [everything, everything, everything[1:], everything[1:], []]
    assert scores.num_asked == 1


async def test_a_context_names_the_project_and_the_path_in_it(tmp_path: Path) -> None:
    hole = make_shop(tmp_path / "shop-1.0")
    contexts = CaseContexts()
    options = ContextOptions(chunks=ChunkOptions())
    project = await contexts.context_for(hole, plan_of(hole), OPTIONS, options, Scores())
    contexts.close()
    assert project is not None
    assert (project.repository, project.path) == ("shop-1.0", "shop/totals.py")
    assert {chunk.path for chunk in project.chunks} == {"shop/helpers.py"}
