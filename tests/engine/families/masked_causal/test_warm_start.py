"""A fill that starts from the last one, or is suspended between two passes, writes what it would
write alone."""

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cancel_when import cancel_when
from toy_causal import DECODINGS, toy_context, toy_fill, toy_filler, toy_text
from toy_causal_fill import run_fill

from intarsia.engine.decoding.tokens import HoleTokens
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal import open_context as open_context_module
from intarsia.engine.families.masked_causal.backbone import torch_backbone
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.read_request import FillTask, RequestReader
from intarsia.engine.families.masked_causal.warm_start import PastAnswers
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import Fill, Filled

_PREFIX = "def default(val):\n    return val\n\n\ndef main(val):\n    val ="
_TYPED = " va"
_SUFFIX = "\n    return val\n"


class Typist:
    """A user at one hole, and two engines: one remembers, one does not."""

    def __init__(self, toy: Path, drafter: Path | None, request: Fill) -> None:
        self.warm, self.cold = toy_filler(toy, drafter), toy_filler(toy, drafter)
        self.request = request
        self.passes = {"warm": 0, "cold": 0}
        self.num_more = 0  # fills that took more passes than from nothing

    def edit(self, **fields: str) -> None:
        self.request = msgspec.structs.replace(self.request, **fields)

    def type(self, text: str) -> None:
        self.edit(given=self.request.given + text)

    def fill(self) -> Filled:
        """Have both fill; the text must be the same."""
        warm = run_fill(self.warm, msgspec.structs.replace(self.request, fresh=False))
        cold = run_fill(self.cold, self.request)
        assert warm.text == cold.text
        assert [token.text for token in warm.tokens] == [token.text for token in cold.tokens]
        assert warm.finish_reason == cold.finish_reason
        for mine, other in zip(warm.tokens, cold.tokens, strict=True):
            assert mine.is_settled and mine.confidence == pytest.approx(other.confidence, rel=1e-3)
        self.passes["warm"] += warm.num_forwards
        self.passes["cold"] += cold.num_forwards
        self.num_more += warm.num_forwards > cold.num_forwards
        return warm

    def cancelled_fill(self, num_forwards: int) -> None:
        """Have both begin, until a key cancels both after this number of passes."""
        warm = msgspec.structs.replace(self.request, fresh=False)
        self.passes["warm"] += _passes_until_cancelled(self.warm, warm, num_forwards)
        self.passes["cold"] += _passes_until_cancelled(self.cold, self.request, num_forwards)


def _passes_until_cancelled(filler: MaskedCausalFiller, request: Fill, most: int) -> int:
    """Fill; return the passes that were made."""
    steps: list[int] = []

    with suppress(Cancelled):
        run_fill(
            filler,
            request,
            checkpoint=cancel_when(lambda: steps[-1:] == [most]),
            on_step=lambda step: steps.append(step.step),
        )
    return steps[-1]


@pytest.fixture
def typist(toy: Path, drafter: Path) -> Typist:
    return Typist(toy, drafter, toy_fill(_PREFIX, _SUFFIX, given=_TYPED))


def first_sign(text: str) -> str:
    """Return a sign that can be typed: half of one cannot."""
    return text[:1] if text[:1] != "\ufffd" else ""


def test_a_remembered_answer_takes_no_pass(typist: Typist) -> None:
    assert typist.fill().num_forwards > 0
    assert typist.fill().num_forwards == 0


def test_a_cancelled_fill_is_continued(typist: Typist) -> None:
    cold = run_fill(typist.cold, typist.request)
    typist.cancelled_fill(2)
    assert typist.fill().num_forwards == cold.num_forwards - 2


@pytest.mark.parametrize("num_forwards", [0, 1, 3])
def test_typing_along_a_cancelled_answer_loses_nothing(typist: Typist, num_forwards: int) -> None:
    answer = run_fill(typist.cold, typist.request)
    typist.cancelled_fill(num_forwards)
    typist.type(first_sign(answer.text))
    assert typist.fill().num_forwards <= answer.num_forwards - num_forwards


@pytest.mark.parametrize(
    "changes", [{"decoding": "autoregressive"}, {"alternative": 1}, {"draft": "val"}]
)
def test_nothing_else_starts_from_an_answer(typist: Typist, changes: dict[str, Any]) -> None:
    typist.fill()
    request = msgspec.structs.replace(typist.request, fresh=False, **changes)
    warm, cold = run_fill(typist.warm, request), run_fill(typist.cold, request)
    assert (warm.text, warm.num_forwards) == (cold.text, cold.num_forwards)


def test_several_answers_are_the_same_warm(typist: Typist) -> None:
    typist.request = msgspec.structs.replace(typist.request, num_candidates=4)
    for _ in range(2):
        warm = typist.fill()
        cold = run_fill(typist.cold, typist.request)
        assert [other.text for other in warm.others] == [other.text for other in cold.others]


def test_another_limit_holds_in_what_is_remembered(typist: Typist) -> None:
    whole = typist.fill()
    for max_tokens in (1, 5, len(whole.tokens)):
        typist.request = msgspec.structs.replace(typist.request, max_tokens=max_tokens)
        assert len(typist.fill().tokens) == max_tokens
    typist.request = msgspec.structs.replace(typist.request, stop=(whole.text[-3:],))
    assert typist.fill().finish_reason == "end_of_hole"


def edit_anyhow(typist: Typist, answer: str, chance: random.Random) -> str:
    """Type along mostly, at times something else or elsewhere. Return what is left to type."""
    kind = chance.random()
    given = typist.request.given
    if kind < 0.55 and first_sign(answer):
        length = 1 if kind < 0.45 else chance.randrange(1, 4)
        typed = answer[:length].split("\ufffd", maxsplit=1)[0]
        typist.type(typed)
        return answer[len(typed) :]
    if kind < 0.7:
        typist.type(chance.choice("aev 1(=.\n"))
    elif kind < 0.82 and given:
        length = chance.randrange(1, 4)
        typist.edit(given=given[:-length])
        return given[-length:] + answer
    elif kind < 0.91:
        typist.edit(suffix=_SUFFIX + "#" * chance.randrange(5))
    else:
        typist.edit(prefix="#" * chance.randrange(5) + "\n" + _PREFIX)
    return answer


@pytest.mark.parametrize("seed", range(4))
def test_any_script_of_edits_gives_warm_what_it_gives_cold(seed: int, toy: Path, drafter: Path):
    chance = random.Random(seed)
    typist = Typist(toy, drafter, toy_fill(_PREFIX, _SUFFIX))
    answer = ""
    for _ in range(60):
        answer = edit_anyhow(typist, answer, chance)
        if chance.random() < 0.5:
            typist.cancelled_fill(chance.randrange(4))
        else:
            answer = typist.fill().text
    assert typist.num_more <= 1
    assert typist.passes["warm"] < 0.9 * typist.passes["cold"], "though a toy's text is chaotic"


def test_where_a_bracket_is_typed_that_held_the_end_off_the_rest_is_open(toy: Path) -> None:
    """After a given "(" alone the model might have ended the hole."""
    text = toy_text(toy)
    past = PastAnswers(text)
    reader = RequestReader(text, vocab_size=text.num_tokens, max_context_tokens=256)

    def task(given: str = "") -> FillTask:
        return reader.read(toy_fill(_PREFIX, _SUFFIX, given=given, max_open=0), NO_CONTROL)

    ids = text.encode(task().healed.decode() + "(val\nval)")
    sure, num = [0.5] * len(ids), len(ids)
    hole = HoleTokens(ids=ids, confidences=sure, entropies=sure, num_committed=num)
    past.remember(task(), hole, None)
    along, bracket = past.find(task()), past.find(task("("))
    assert along is not None and bracket is not None
    assert len(along.committed) == len(along.draft.ids)
    assert len(bracket.committed) < len(bracket.draft.ids)


FILE = "".join(f"x{number} = {number}\n" for number in range(3, 15))  # the toy writes on
OTHERS = [
    toy_fill(FILE, "\ny = 2\n", max_tokens=6),  # the same place: its context is suspended
    toy_fill(FILE + "z = 3\n", "\ny = 2\n", max_tokens=6, decoding="autoregressive"),
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

    def __init__(self, filler, when, which) -> None:
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
def test_a_suspended_fill_returns_what_it_returns_alone(kind, cache_tokens, toy, drafter):
    undisturbed = toy_filler(toy, drafter)
    alone = [said(run_fill(undisturbed, request)) for request in OTHERS]
    expected = run_fill(undisturbed, work(kind))
    for seed in range(2):
        filler = toy_filler(toy, drafter, cache_tokens=cache_tokens)
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


def test_an_inner_fill_may_write_the_same_hole(toy: Path, drafter: Path) -> None:
    """Its answer ends, so it is written a line longer, then from a copied context again."""
    filler = toy_filler(toy, drafter)
    prefix = "".join(f"x{number} = {number}\n" for number in range(12))
    request = toy_fill(prefix, "\ny = 2\n", num_candidates=3)
    expected = run_fill(toy_filler(toy, drafter), request)
    assert expected.others
    others = Interruption(filler, lambda asked: asked > 3, lambda: request)
    assert said(run_fill(filler, request, checkpoint=others.checkpoint)) == said(expected)
    assert [said(answer) for _, answer in others.done] == [said(expected)] * len(others.done)


def test_suspended_fills_may_be_nested(toy: Path, drafter: Path) -> None:
    filler = toy_filler(toy, drafter)
    inner = Interruption(filler, lambda asked: asked % 2 == 0, lambda: OTHERS[2])

    def outer() -> None:
        with filler.suspended():
            found = run_fill(filler, work("autoregressive"), checkpoint=inner.checkpoint)
            assert said(found) == said(run_fill(toy_filler(toy, drafter), work("autoregressive")))

    found = run_fill(filler, work("speculative"), checkpoint=outer)
    assert inner.done
    assert said(found) == said(run_fill(toy_filler(toy, drafter), work("speculative")))


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
def test_a_context_is_read_in_short_chunks_after_a_suspension(at, expected, toy, monkeypatch):
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
