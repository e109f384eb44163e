"""The holes of a run are drawn from a corpus folder: all files, or some at random."""

from pathlib import Path

import pytest
from corpus_files import corpus_file, functions

from intarsia_research.corpus.corpus_file import write_files
from intarsia_research.training.holes.draw import HoleDraw, draw_from_corpus

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    files = [
        corpus_file(functions(name, *NAMES[:2]), path=f"{name}.py", package=name[0])
        for name in sorted(NAMES)
    ]
    write_files(tmp_path, sorted(files, key=lambda file: file.package_name))
    return tmp_path


def paths(corpus: Path, draw: HoleDraw) -> list[str]:
    return [hole.path for hole in draw_from_corpus(corpus, draw, lambda text, share: None)]


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_holes_are_drawn_in_every_file_or_in_some(corpus: Path, share: float) -> None:
    every = HoleDraw(seed=1, per_file=2, project_share=share)
    some = HoleDraw(seed=1, per_file=2, project_share=share, max_holes=6)
    assert {path.removesuffix(".py") for path in paths(corpus, every)} == set(NAMES)
    assert len(paths(corpus, every)) == 2 * len(NAMES)
    assert len(paths(corpus, some)) == 6
    assert len(set(paths(corpus, some))) == 3
    assert paths(corpus, some) == paths(corpus, some)


def test_a_seed_draws_its_own_files(corpus: Path) -> None:
    drawn = {
        tuple(paths(corpus, HoleDraw(seed=seed, per_file=1, max_holes=3))) for seed in range(5)
    }
    assert len(drawn) > 1
