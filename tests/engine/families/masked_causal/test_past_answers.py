"""What earlier answers say about a hole."""

from pathlib import Path

import msgspec
import pytest
from toy_causal import toy_fill, toy_filler, toy_text
from toy_causal_fill import run_fill

from intarsia.engine.decoding.tokens import HoleTokens
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.read_request import FillTask, RequestReader
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.warm_start import PastAnswers, WarmStart
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Fill

_PREFIX = "def default(val):\n    x"
_SUFFIX = "\n    return val\n"
_ANSWER = " = f(val)"


class Place:
    """A hole that the user works on."""

    def __init__(self, text: FimTokenizer) -> None:
        self.text = text
        self.past_answers = PastAnswers(text)
        self._reader = RequestReader(text, vocab_size=text.num_tokens, max_context_tokens=256)

    def task(
        self, given: str = "", *, prefix: str = _PREFIX, max_open: int | None = None
    ) -> FillTask:
        request = toy_fill(prefix, _SUFFIX, given=given, max_open=max_open)
        return self._reader.read(request, NO_CONTROL)

    def answer(
        self, task: FillTask, answer: str, num_drafted: int = 0, *, ends: bool = False
    ) -> None:
        ids = self.text.encode(task.healed.decode() + answer)
        ids += [self.text.mark_ids().end] if ends else []
        num_committed = len(ids) - num_drafted
        written = HoleTokens(
            ids=ids,
            confidences=[0.5] * len(ids),
            entropies=[1.0] * num_committed,
            num_committed=num_committed,
        )
        self.past_answers.remember(task, written, None)

    def draft_of(self, task: FillTask) -> str | None:
        """Return the draft without the bytes that are open."""
        start = self.past_answers.find(task)
        if start is None:
            return None
        raw = b"".join(map(self.text.bytes_of, start.draft.ids))
        assert raw.startswith(task.healed)
        return raw[len(task.healed) :].decode()


@pytest.fixture
def place(toy: Path) -> Place:
    return Place(toy_text(toy))


@pytest.mark.parametrize(
    ("before", "now", "draft"),
    [
        ("", "", _ANSWER),
        ("", " = f", "(val)"),
        (" ", " = f(va", "l)"),
        (" =", " ", "= = f(val)"),  # deleted
        ("", " = gg", "(val)"),  # another word
        ("", " = gg(", "val)"),
        ("", " += ", None),
        ("", " = f(val)", None),
    ],
)
def test_an_answer_continues_after_what_was_typed(
    before: str, now: str, draft: str | None, place: Place
) -> None:
    place.answer(place.task(before), _ANSWER[len(before) if before == " " else 0 :])
    assert place.draft_of(place.task(now)) == draft


def test_the_newest_that_was_typed_along_counts(place: Place) -> None:
    for given, answer in [("", " = 1"), (" =", " 2"), (" = 3", " + 4")]:
        place.answer(place.task(given), answer)
    assert place.draft_of(place.task(" =")) == " 2", "a slip that was deleted says nothing"
    assert place.draft_of(place.task()) == " = 1"


def test_another_place_is_not_this_one(place: Place) -> None:
    place.answer(place.task(), _ANSWER)
    assert place.draft_of(place.task(prefix="def other(val):\n    x")) is None


def test_its_end_belongs_to_a_draft(place: Place) -> None:
    end = place.text.mark_ids().end
    place.answer(place.task(), _ANSWER, ends=True)
    for given in ("", " = ", " = gg"):
        start = place.past_answers.find(place.task(given))
        assert start is not None and start.draft.ids[-1] == end


def start_of(place: Place, task: FillTask) -> WarmStart:
    start = place.past_answers.find(task)
    assert start is not None
    return start


def test_in_the_same_context_committed_tokens_stay_committed(place: Place) -> None:
    place.answer(place.task(), _ANSWER, num_drafted=2)
    for given in ("", " =", " = f"):
        start = start_of(place, place.task(given))
        assert len(start.committed) == len(start.draft.ids) - 2
        assert [token.id for token in start.committed] == list(start.draft.ids)[:-2]


def test_in_another_context_nothing_is_committed(place: Place) -> None:
    place.answer(place.task(), _ANSWER)
    start = start_of(place, place.task(prefix="#" * 80 + "\n" + _PREFIX))
    assert start.draft.ids and not start.committed


def test_where_a_bracket_is_typed_that_held_the_end_off_the_rest_is_open(place: Place) -> None:
    """After a given "(" alone the model might have ended the hole."""
    place.answer(place.task(max_open=0), "(val\nval)")
    along, bracket = place.task(max_open=0), place.task("(", max_open=0)
    assert len(start_of(place, along).committed) == len(start_of(place, along).draft.ids)
    assert len(start_of(place, bracket).committed) < len(start_of(place, bracket).draft.ids)


def test_a_first_token_of_another_word_leaves_the_text_after_it(place: Place) -> None:
    place.answer(place.task(), "val = f(val)")
    start = start_of(place, place.task("v"))
    named = place.text.encode("ve")
    rest = place.past_answers.rest_of(start, named)
    assert b"".join(map(place.text.bytes_of, rest.ids)) == b" = f(val)"
    assert not place.past_answers.rest_of(start, place.text.encode("\n")).ids


WINDOW = 110
"""Characters of a file before and after the hole that a request has, as the server cuts them."""


def source(name: str, num_functions: int = 30) -> str:
    return "".join(
        f"def {name}_{n}(a, b):\n    c = a * {n} + b\n    return c - {n}\n\n\n"
        for n in range(num_functions)
    )


def at(text: str, function: int, *, typed: str = "") -> Fill:
    """Return the request at the end of a function's first line; windows begin at a function."""
    start = text.index("\n    return", _offset(text, function))
    first = text.rfind("def ", 0, max(0, start - WINDOW) + 4)
    return toy_fill(text[max(0, first) : start] + typed, text[start:][:WINDOW], max_tokens=2)


def _offset(text: str, function: int) -> int:
    offset = 0
    for _ in range(function):
        offset = text.index("def ", offset) + 4
    return text.index("def ", offset)


@pytest.fixture
def filler(toy: Path) -> MaskedCausalFiller:
    return toy_filler(toy, max_context_tokens=500, cache_tokens=6_000)


def num_read(filler: MaskedCausalFiller, request: Fill) -> int:
    return run_fill(filler, request).num_prefilled


def test_back_in_the_same_place_nothing_is_read(filler: MaskedCausalFiller) -> None:
    text = source("f")
    assert num_read(filler, at(text, 5)) > 60
    assert num_read(filler, at(text, 20)) > 60, "another part of the file"
    assert num_read(filler, at(text, 6)) > 0, "a place nearby"
    for function in (5, 20, 6, 5):
        assert num_read(filler, at(text, function)) == 0


def test_nor_is_anything_after_typing_and_undoing_elsewhere(filler: MaskedCausalFiller) -> None:
    text = source("f")
    num_read(filler, at(text, 5))
    for typed in ("", "\n    d", "\n    d = c\n    e", "\n    d = c\n    e = d", "\n    d"):
        num_read(filler, at(text, 20, typed=typed))
    assert num_read(filler, at(text, 5)) == 0


def test_back_in_a_file_after_much_work_in_another_nothing_is_read(
    filler: MaskedCausalFiller,
) -> None:
    """Each change of the other file's suffix is a boundary of its own: these put out no other."""
    text, other = source("f"), source("other")
    num_read(filler, at(text, 5))
    for n in range(80):
        num_read(filler, at(other.replace("- 21", f"- {n}"), 20))
    assert filler.cached_tokens() <= 6_000
    assert num_read(filler, at(text, 5)) == 0


def test_an_edit_below_costs_the_suffix_only(filler: MaskedCausalFiller) -> None:
    text = source("f")
    whole = num_read(filler, at(text, 5))
    edited = text.replace("return c - 6", "return c + 6")
    assert 0 < num_read(filler, at(edited, 5)) < 0.75 * whole
    assert num_read(filler, at(text, 5)) == 0, "and going back costs nothing"


def test_a_context_that_lost_its_end_is_still_shared(filler: MaskedCausalFiller) -> None:
    text = source("f")
    line = "\n    total = a + b\n    rest = a - b"
    num_read(filler, at(text, 5, typed=line))
    num_read(filler, at(text, 5, typed="\n    total"))  # it is taken over, and loses the line
    num_read(filler, at(text, 20))
    assert num_read(filler, at(text, 5, typed=line)) < len(line)


def test_a_jump_of_some_lines_reads_what_differs(filler: MaskedCausalFiller) -> None:
    text = source("f")
    whole = num_read(filler, at(text, 5))
    above, below = at(text, 5), at(text, 6)
    lines = text[text.index(above.suffix) : text.index(below.suffix)]
    with_the_same_start = msgspec.structs.replace(below, prefix=above.prefix + lines)
    assert num_read(filler, with_the_same_start) < 0.9 * whole


@pytest.mark.parametrize("num_files", [3, 12])
def test_a_tour_of_files_reads_each_once(num_files: int, filler: MaskedCausalFiller) -> None:
    texts = [source(f"name{n}") for n in range(num_files)]
    for text in texts:
        assert num_read(filler, at(text, 5)) > 60
    for text in [*reversed(texts), *texts]:
        assert num_read(filler, at(text, 5)) == 0


def test_the_budget_holds_all_the_same(toy: Path) -> None:
    filler = toy_filler(toy, max_context_tokens=500, cache_tokens=1_000)
    for n in range(20):
        num_read(filler, at(source(f"name{n}"), 5))
        assert filler.cached_tokens() <= 1_000
