"""Refills a line: the words that fell are noised, and the line is denoised between both sides.

The old line is the draft, so what is right in it can stay, as in a fill that starts from a draft.
How many tokens take the place of the words that fell is chosen as the length of any hole is: by how
well the rest of the line still fits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from intarsia.engine.diffusion.canvas import TokenCanvas, random_canvas
from intarsia.engine.diffusion.denoise import DenoisingPolicy, Predict, denoise
from intarsia.engine.diffusion.length import choose_length
from intarsia.engine.families.diffusion_gemma.canvas.settings import DenoisingSettings, begun_at
from intarsia.engine.families.diffusion_gemma.next_edit.surroundings import Surroundings
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill

_SEED = 0
_FEWER, _MORE = 1, 2  # tokens than are likely, which are tried too


@dataclass(frozen=True, kw_only=True, slots=True)
class OldLine:
    """A line's ids before and after the words to replace, and how many ids may replace these."""

    head: Sequence[int]
    tail: Sequence[int]
    lengths: Sequence[int]  # the likeliest first; not empty


@dataclass(frozen=True, kw_only=True, slots=True)
class Refilled:
    """The ids of the line, and the sum of their log-probabilities when they were accepted.

    These are at the temperature of the last step.
    """

    ids: Sequence[int]
    log_p: float


def numbers_around(likely: Sequence[int], *, least: int, most: int) -> Sequence[int]:
    """Return numbers of tokens to try: the likely ones, then those near them."""
    near = (number + d for number in likely for d in range(-_FEWER, _MORE + 1))
    return [number for number in dict.fromkeys((*likely, *near)) if least <= number <= most]


class Refiller:
    """Refills lines with one model, greedily: always the same way."""

    def __init__(
        self, settings: DenoisingSettings, *, vocab_size: int, device: torch.device
    ) -> None:
        self._settings = settings
        self._vocab_size = vocab_size
        self._device = device

    def rewrite(self, line: OldLine, around: Surroundings, control: FillControl) -> Refilled:
        """Return the line, any of its tokens revised. Raises Cancelled between two passes."""
        number = self._choose_number(line, around, control)
        start = (*line.head, *[None] * number, *line.tail)
        canvas = self._canvas((*[None] * len(start), *around.following), start)
        policy = begun_at(self._policy(), max(number, 1) / len(start))
        return self._denoise(canvas, len(start), policy, around.predict, control)

    def fill(self, line: OldLine, around: Surroundings, control: FillControl) -> Refilled:
        """Return the line with all given but the words to replace. Raises Cancelled."""
        number = self._choose_number(line, around, control)
        ids = (*line.head, *[None] * number, *line.tail)
        canvas = self._canvas((*ids, *around.following), ())
        return self._denoise(canvas, len(ids), self._policy(), around.predict, control)

    def _choose_number(self, line: OldLine, around: Surroundings, control: FillControl) -> int:
        """Return how many tokens fit between the two ends of a line."""

        def canvas_of(num_free: int) -> TokenCanvas:
            return self._canvas((*[None] * num_free, *line.tail, *around.following), line.head)

        lengths = [len(line.head) + number for number in line.lengths]
        choice = choose_length(around.predict, lengths, canvas_of, control=control)
        return choice.num_tokens - len(line.head)

    def _canvas(self, ids: Sequence[int | None], start: Sequence[int | None]) -> TokenCanvas:
        """Return a canvas with noise where neither ``ids`` nor the ids to start with say more."""
        start = (*start, *[None] * (len(ids) - len(start)))
        generator = self._generator()
        return random_canvas(ids, vocab_size=self._vocab_size, generator=generator, start=start)

    def _denoise(
        self,
        canvas: TokenCanvas,
        num_ids: int,
        policy: DenoisingPolicy,
        predict: Predict,
        control: FillControl,
    ) -> Refilled:
        """Denoise a canvas that begins with the line."""
        denoised = denoise(predict, canvas, policy, generator=self._generator(), control=control)
        return Refilled(
            ids=denoised.ids[:num_ids].tolist(),
            log_p=float(denoised.confidences[:num_ids].log().sum()),
        )

    def _policy(self) -> DenoisingPolicy:
        """Return the checkpoint's own policy, without chance."""
        greedy = Fill(id=0, prefix="", suffix="", temperature=0.0)
        return self._settings.policy(greedy, vocab_size=self._vocab_size)

    def _generator(self) -> torch.Generator:
        return torch.Generator(self._device).manual_seed(_SEED)
