"""A training hole is laid out as a fill of the same hole is read."""

from pathlib import Path

import pytest
from repository_files import functions, source_file
from toy_causal import toy_text

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.context_boundary import boundary_offset
from intarsia.engine.families.masked_causal.read_request import RequestReader
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill
from intarsia.infill.holes.hole import given_start
from intarsia.training.draw_holes import TrainingHole, draw_holes
from intarsia.training.encode_holes import encode_holes
from intarsia.training.packed_holes import HoleIds


@pytest.fixture(scope="module")
def text(toy: Path) -> FimTokenizer:
    return toy_text(toy)


@pytest.fixture(scope="module")
def holes() -> list[TrainingHole]:
    names = ("alpha", "beta", "gamma", "delta", "ret", "val")
    files = [source_file(functions(first, *names), path=f"{first}.py") for first in names]
    return list(draw_holes(files, seed=1, per_file=12))


@pytest.fixture(scope="module")
def laid_out(text: FimTokenizer, holes: list[TrainingHole]) -> list[tuple[TrainingHole, HoleIds]]:
    pairs = [(hole, list(encode_holes([hole], text))) for hole in holes]
    return [(hole, ids[0]) for hole, ids in pairs if ids]


def test_nothing_of_a_text_is_lost(
    text: FimTokenizer, laid_out: list[tuple[TrainingHole, HoleIds]]
) -> None:
    for hole, ids in laid_out:
        before = "".join(text.pieces([*ids.prefix, *ids.given, *ids.middle], num_given=0))
        assert (hole.prefix + hole.hole).endswith(before)
        assert before.endswith(hole.hole)


def test_a_hole_after_a_context_boundary_is_read_as_in_training(
    text: FimTokenizer, laid_out: list[tuple[TrainingHole, HoleIds]]
) -> None:
    num_compared = 0
    for hole, ids in laid_out:
        start = given_start(hole.prefix, len(hole.prefix))
        prefix = hole.prefix[:start]
        context = "".join(text.pieces(ids.prefix, num_given=0))
        if context != prefix[: boundary_offset(prefix)] or len(context) == len(prefix):
            continue
        num_compared += 1
        reader = RequestReader(text, vocab_size=text.num_tokens, max_context_tokens=8192)
        request = Fill(
            id=1, prefix=prefix, given=hole.prefix[start:], suffix=hole.suffix[:700] or "\n"
        )
        read = reader.read(request, FillControl())
        trained = [*text.context(ids.prefix, ids.suffix), *ids.given]
        assert read.context[: len(trained)] == trained
        rest = b"".join(map(text.bytes_of, [*read.context[len(trained) :]])) + read.healed
        assert b"".join(map(text.bytes_of, ids.middle)).startswith(rest)
    assert num_compared > len(laid_out) // 3


def test_contexts_end_at_the_hole_and_at_boundaries_near_and_further_up(
    text: FimTokenizer, laid_out: list[tuple[TrainingHole, HoleIds]]
) -> None:
    lines = [
        "".join(text.pieces(ids.given, num_given=0)).count("\n") if ids.given else -1
        for _, ids in laid_out
    ]
    at_the_hole, near = lines.count(-1), lines.count(1)
    further = sum(number > 1 for number in lines)
    assert near > at_the_hole > 0
    assert near > further > 0
