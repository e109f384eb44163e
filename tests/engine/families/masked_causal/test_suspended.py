"""A fill that is suspended between two passes returns what it would return alone."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from cancel_when import cancel_when
from toy_causal import DECODINGS, toy_context, toy_fill, toy_filler
from toy_causal_fill import run_fill

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal import open_context as open_context_module
from intarsia.engine.families.masked_causal.backbone import torch_backbone
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill, Filled

FILE = "".join(f"x{number} = {number}\n" for number in range(3, 15))  # the toy writes on
OTHERS = [
    toy_fill(FILE, "\ny = 2\n", max_tokens=6),  # the same place: its context is suspended
    toy_fill(FILE + "z = 3\n", "\ny = 2\n", max_tokens=6, decoding="entropy"),
    toy_fill("other " * 9, "", max_tokens=9),
    toy_fill(FILE, "\ny = 2\n", draft="a = b", noise=0.5, max_tokens=20),
    toy_fill(FILE, "\ny = 2\n", max_tokens=4, num_candidates=2),
]
KINDS = {
    **{decoding: {"decoding": decoding} for decoding in DECODINGS},
    "rewritten": {"draft": "abc = d + e * f", "noise": 0.6, "max_tokens": 20},
    "of several": {"num_candidates": 3},
}


def work(kind: str) -> Fill:
    return toy_fill(**({"prefix": FILE, "suffix": "\ny = 2\n", "max_tokens": 12} | KINDS[kind]))


def said(filled: Filled) -> object:
    """An answer without numbers: another chunk of the same context rounds otherwise."""
    others = [(other.text, other.finish_reason) for other in filled.others]
    settled = [(token.text, token.is_settled) for token in filled.tokens]
    return filled.text, settled, filled.num_forwards, filled.finish_reason, others


class Interruption:
    """Runs other fills at checkpoints: ``when`` chooses the checkpoints, ``which`` the fills."""

    def __init__(
        self, filler: MaskedCausalFiller, when: Callable[[int], bool], which: Callable[[], Fill]
    ) -> None:
        self._filler = filler
        self._when = when
        self._which = which
        self._num_asked = 0
        self.done: list[tuple[Fill, Filled]] = []

    def checkpoint(self) -> None:
        self._num_asked += 1
        if self._when(self._num_asked):
            request = self._which()
            with self._filler.suspended():
                self.done.append((request, run_fill(self._filler, request)))


def at_random(filler: MaskedCausalFiller, chance: random.Random) -> Interruption:
    first = chance.randrange(3)
    return Interruption(filler, lambda at: at % 3 == first, lambda: chance.choice(OTHERS))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cache_tokens", [4_096, 150])
def test_a_suspended_fill_returns_what_it_returns_alone(
    kind: str, cache_tokens: int, toy: Path, adapter: Path
) -> None:
    undisturbed = toy_filler(toy, adapter)
    alone = [said(run_fill(undisturbed, request)) for request in OTHERS]
    expected = run_fill(undisturbed, work(kind))
    for seed in range(2):
        filler = toy_filler(toy, adapter, cache_tokens=cache_tokens)
        others = at_random(filler, random.Random(seed))
        found = run_fill(filler, work(kind), checkpoint=others.checkpoint)
        assert others.done
        assert said(found) == said(expected)
        for request, answer in others.done:
            assert said(answer) == alone[OTHERS.index(request)]


@pytest.mark.parametrize("cache_tokens", [4_096, 300])
def test_what_is_read_of_a_context_is_not_read_again_after_others(cache_tokens: int, toy: Path):
    filler = toy_filler(toy, cache_tokens=cache_tokens)
    expected = run_fill(toy_filler(toy), work("speculative"))
    others = Interruption(filler, lambda asked: asked == 2, lambda: OTHERS[2])
    found = run_fill(filler, work("speculative"), checkpoint=others.checkpoint)
    assert (found.num_prefilled, found.num_reused) == (expected.num_prefilled, 0)
    assert run_fill(filler, work("speculative")).num_prefilled == 0
    if cache_tokens > 300:
        assert run_fill(filler, OTHERS[2]).num_prefilled == 0, "nor is that of the others"


def test_an_inner_fill_may_write_the_same_hole(toy: Path, adapter: Path) -> None:
    """Its answer ends, so it is written a line longer, then from a copied context again."""
    filler = toy_filler(toy, adapter)
    prefix = "".join(f"x{number} = {number}\n" for number in range(12))
    request = toy_fill(prefix, "\ny = 2\n", num_candidates=3)
    expected = run_fill(toy_filler(toy, adapter), request)
    assert expected.others
    others = Interruption(filler, lambda asked: asked > 3, lambda: request)
    assert said(run_fill(filler, request, checkpoint=others.checkpoint)) == said(expected)
    assert [said(answer) for _, answer in others.done] == [said(expected)] * len(others.done)


def test_suspended_fills_may_be_nested(toy: Path, adapter: Path) -> None:
    filler = toy_filler(toy, adapter)
    inner = Interruption(filler, lambda asked: asked % 2 == 0, lambda: OTHERS[2])

    def outer() -> None:
        with filler.suspended():
            found = run_fill(filler, work("entropy"), checkpoint=inner.checkpoint)
            assert said(found) == said(run_fill(toy_filler(toy, adapter), work("entropy")))

    found = run_fill(filler, work("speculative"), checkpoint=outer)
    assert inner.done
    assert said(found) == said(run_fill(toy_filler(toy, adapter), work("speculative")))


def test_a_cancelled_inner_fill_does_not_change_the_suspended_one(toy: Path) -> None:
    filler, num_asked = toy_filler(toy), 0

    def interrupt() -> None:
        nonlocal num_asked
        num_asked += 1
        with filler.suspended(), pytest.raises(Cancelled):
            run_fill(filler, OTHERS[2], checkpoint=cancel_when(lambda: True))

    found = run_fill(filler, work("speculative"), checkpoint=interrupt)
    assert num_asked > 2
    assert said(found) == said(run_fill(toy_filler(toy), work("speculative")))


@pytest.mark.parametrize(("at", "expected"), [(0, [0, 60, 120]), (2, [0, 60, 80, 100, 120, 140])])
def test_a_context_is_read_in_short_chunks_after_a_suspension(
    at: int, expected: list[int], toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that waited for one chunk will soon wait for the next."""
    monkeypatch.setattr(open_context_module, "SHORT_CHUNK", 20)
    monkeypatch.setattr(torch_backbone, "_CPU_CHUNK", 60)
    model, read = toy_context(toy), list[int]()

    def checkpoint() -> None:
        read.append(len(model.cache))
        if len(read) == at:
            with model.suspended():
                model.prefill([1, 2, 3])

    model.prefill([number % 250 for number in range(150)], FillControl(checkpoint=checkpoint))
    assert read == expected
