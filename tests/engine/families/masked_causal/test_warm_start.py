"""Keys, slips and cancelled fills: a fill that starts from the last one writes what one from
nothing writes, in fewer passes."""

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cancel_when import cancel_when
from toy_causal import toy_fill, toy_filler, toy_text
from toy_causal_fill import run_fill

from intarsia.engine.decoding.tokens import HoleTokens
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.read_request import FillTask, RequestReader
from intarsia.engine.families.masked_causal.warm_start import PastAnswers
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Fill, Filled

_PREFIX = "def default(val):\n    return val\n\n\ndef main(val):\n    val ="
_TYPED = " va"
_SUFFIX = "\n    return val\n"


class Typist:
    """A user at one hole, and two engines: one remembers, one does not."""

    def __init__(self, toy: Path, adapter: Path | None, request: Fill) -> None:
        self.warm, self.cold = toy_filler(toy, adapter), toy_filler(toy, adapter)
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
def typist(toy: Path, adapter: Path) -> Typist:
    return Typist(toy, adapter, toy_fill(_PREFIX, _SUFFIX, given=_TYPED))


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
    "changes",
    [{"decoding": "autoregressive"}, {"decoding": "entropy"}, {"alternative": 1}, {"draft": "val"}],
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
def test_any_script_of_edits_gives_warm_what_it_gives_cold(seed: int, toy: Path, adapter: Path):
    chance = random.Random(seed)
    typist = Typist(toy, adapter, toy_fill(_PREFIX, _SUFFIX))
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
