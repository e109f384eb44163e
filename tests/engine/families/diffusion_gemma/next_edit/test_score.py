"""What lines are scored in, and the log-probabilities that this gives."""

import pytest
import torch

from intarsia.engine.families.diffusion_gemma.filler import DiffusionGemmaFiller
from intarsia.engine.families.diffusion_gemma.next_edit.hidden_text import NUM_PASSES, hide
from intarsia.engine.families.diffusion_gemma.next_edit.refill import numbers_around
from intarsia.engine.families.diffusion_gemma.next_edit.surroundings import Span, Version
from intarsia.engine.families.next_edit.edited_lines import WindowLine
from intarsia.engine.fill_control import NO_CONTROL

# transformers' own import of a torch module warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")

ABOVE, PLACE, BELOW = "import os\n", "total = first + 1\n", "return total\n" * 2
WINDOW = (ABOVE + PLACE + BELOW).encode()
SPAN = Span(start=len(ABOVE), end=len(ABOVE + PLACE))
FAR = "    def increase(self, by=1):\n" * 9


@torch.inference_mode()
def by_hand(
    filler: DiffusionGemmaFiller, context: list[int], lines: str, following: list[int]
) -> list[float]:
    """Return the log-probability of each token, from passes of the model alone."""
    hidden = hide(filler._text.tokenize(lines), vocab_size=filler._backbone.vocab_size)
    found = [0.0] * len(hidden.ids)
    for number in range(NUM_PASSES):
        canvas = torch.cat([hidden.shown_in(number), torch.tensor(following, dtype=torch.long)])
        logits = filler._backbone._model(
            input_ids=torch.tensor([context]), decoder_input_ids=canvas[None]
        ).logits[0]
        for i in (hidden.passes == number).nonzero()[:, 0].tolist():
            found[i] = float(logits[i].log_softmax(-1)[hidden.ids[i]])
    return found


@pytest.mark.parametrize("edit_start", [None, len(ABOVE + PLACE)])
def test_a_score_is_the_likelihood_of_each_token_where_it_is_hidden(
    filler: DiffusionGemmaFiller, edit_start: int | None
) -> None:
    version = Version(text=WINDOW, edit_start=edit_start)
    tokens = filler._text.tokenize(PLACE)
    found = filler._next_edits._scorer.score(version, SPAN, tokens, NO_CONTROL)
    following = [] if edit_start is None else filler._text.encode(BELOW)[:16]
    far = "" if edit_start is None or len(filler._text.encode(BELOW)) <= 16 else BELOW
    expected = by_hand(filler, filler._text.context(ABOVE, far), PLACE, following)
    assert found.tolist() == pytest.approx(expected, abs=1e-3)


def test_an_edit_too_far_below_begins_the_context(filler: DiffusionGemmaFiller) -> None:
    version = Version(text=WINDOW + FAR.encode(), edit_start=len(WINDOW))
    around = filler._next_edits._surroundings.for_score(version, SPAN, NO_CONTROL)
    read = filler._next_edits._contexts._held[-1]
    assert read.ids == filler._text.context(ABOVE, FAR)
    assert around.following == filler._text.encode(BELOW + FAR)[:16]


def test_a_gain_is_the_difference_of_two_scores(filler: DiffusionGemmaFiller) -> None:
    version = Version(text=WINDOW, edit_start=None)
    start = len(ABOVE + PLACE)
    length = len("return total\n")
    following = [
        WindowLine(number=2 + i, start=at, end=at + length, start_before=at, may_change=True)
        for i, at in enumerate((start, start + length))
    ]
    new = "total = second + 1\n"
    gain = filler._next_edits._scorer.gain(version, SPAN, new, following, NO_CONTROL)
    context = filler._text.context(ABOVE, "")
    sums = [sum(by_hand(filler, context, lines + BELOW, [])) for lines in (new, PLACE)]
    assert gain == pytest.approx(sums[0] - sums[1], abs=1e-2)
    assert filler._next_edits._scorer.gain(version, SPAN, PLACE, following, NO_CONTROL) == 0
    assert filler._next_edits._scorer.gain(version, SPAN, FAR, following, NO_CONTROL) is None


def test_likely_numbers_of_tokens_are_tried_first() -> None:
    assert list(numbers_around([3, 5], least=0, most=99)) == [3, 5, 2, 4, 6, 7]
    assert list(numbers_around([1], least=1, most=2)) == [1, 2]
    assert list(numbers_around([9], least=0, most=4)) == []
