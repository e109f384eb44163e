"""The effect of a tuning: which holes are filled, when an answer is right, what is counted."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from repository_files import functions, source_file

from intarsia.engine.ipc.errors import FillFailed
from intarsia.training.cut_holes import CUT_HOLE_KINDS, CutHole
from intarsia.training.effect import (
    HeldOutHole,
    TuningEffect,
    compared,
    draw_held_out,
    judged,
    mcnemar,
    measure,
)
from intarsia.training.repository_files import RepositoryFault

FILES = [source_file(functions(*names), path=f"{names}.py") for names in ("abc", "def", "ghi")]


def test_holes_are_of_all_kinds_from_all_files_and_do_not_overlap() -> None:
    holes = draw_held_out(FILES, limit=18, seed=0)
    assert holes == draw_held_out(FILES, limit=18, seed=0)
    assert holes != draw_held_out(FILES, limit=18, seed=1)
    assert len(holes) == 18
    assert {hole.cut.kind for hole in holes} == {*CUT_HOLE_KINDS}
    for file in FILES:
        cuts = sorted((hole.cut.start, hole.cut.end) for hole in holes if hole.file is file)
        assert len(cuts) == 6
        assert all(first[1] <= second[0] for first, second in pairwise(cuts))


def test_a_few_files_give_the_holes_that_they_have() -> None:
    files = [source_file("def one(box):\n    return box.one(box)\n")] * 2
    assert 3 < len(draw_held_out(files, limit=99, seed=0)) < 20


def test_files_without_a_hole_are_refused() -> None:
    with pytest.raises(RepositoryFault, match="no hole in the held-out files"):
        draw_held_out([source_file("# nothing\n")], limit=9, seed=0)


@pytest.mark.parametrize(
    ("kind", "answer", "is_exact"),
    [
        ("line", "return 1", True),
        ("line", "return 1  \n", True),
        ("line", " return 1", False),
        ("line", "", False),
        ("block", "a = 1\n    return 1", False),
    ],
)
def test_blanks_at_the_end_do_not_matter(kind: str, answer: str, is_exact: bool) -> None:
    text = "def one():\n    return 1\n"
    start = text.index("return")
    cut = CutHole(kind=kind, start=start, end=len(text) - 1)  # type: ignore[arg-type]
    found, similarity = judged(HeldOutHole(file=source_file(text), cut=cut), answer)
    assert found is is_exact
    assert (similarity == 1) is is_exact
    assert 0 <= similarity <= 1


def test_blanks_at_the_ends_of_lines_do_not_matter_in_a_block() -> None:
    text = "def one():\n    a = 1\n    return a\n"
    start = text.index("a = 1")
    cut = CutHole(kind="block", start=start, end=len(text) - 1)
    hole = HeldOutHole(file=source_file(text), cut=cut)
    assert judged(hole, "a = 1  \r\n    return a") == (True, 1.0)


def test_sides_are_compared_hole_by_hole() -> None:
    right, wrong = (True, 1.0), (False, 0.5)
    effect = compared([right, right, wrong, wrong], [right, wrong, right, wrong])
    assert (effect.exact_without, effect.exact_with) == (2, 2)
    assert (effect.only_without, effect.only_with, effect.p) == (1, 1, 1.0)
    assert (effect.similarity_without, effect.similarity_with) == (0.75, 0.75)
    assert not effect.is_worse
    assert compared([right], [wrong]).is_worse
    assert not compared([wrong], [right]).is_worse


@pytest.mark.parametrize(
    ("first", "second", "p"), [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (1, 9, 0.021484)]
)
def test_mcnemar_is_the_exact_binomial_test(first: int, second: int, p: float) -> None:
    assert mcnemar(first, second) == pytest.approx(p, abs=1e-6)
    assert mcnemar(second, first) == mcnemar(first, second)


class Client:
    """A client of an engine that has any model."""

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def preload(self, model: str) -> None:
        pass


def measured(monkeypatch: pytest.MonkeyPatch, *failures: str | None) -> TuningEffect:
    """Measure six holes that fail with these codes, or are answered with nothing."""
    codes = iter([*failures, *[None] * 12])

    async def fill(*_: object) -> str:
        if code := next(codes):
            raise FillFailed(code, "failed")
        return ""

    monkeypatch.setattr("intarsia.training.effect.EngineClient", lambda name: Client())
    monkeypatch.setattr("intarsia.training.effect._fill", fill)
    holes = draw_held_out(FILES, limit=6, seed=0)
    return asyncio.run(
        measure(holes, model="m", tuning=Path("t"), on_progress=lambda text, share: None)
    )


def test_a_hole_without_an_answer_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    effect = measured(monkeypatch, *["internal"] * 4, None, "internal")
    assert (effect.num_holes, effect.exact_without, effect.exact_with) == (6, 0, 0)


@pytest.mark.parametrize("failures", [["internal"] * 5, ["out_of_memory"]])
def test_what_fails_every_hole_ends_the_measuring(
    monkeypatch: pytest.MonkeyPatch, failures: list[str]
) -> None:
    with pytest.raises(FillFailed):
        measured(monkeypatch, *failures)
