"""The code around some lines, as the model sees it: a context before them, ids after them.

Below an edit nothing after the scored lines is shown: outdated places there would speak for the
old words. Above an edit what follows is shown, as in a fill. If that does not fit in the canvas,
the text from the edit on begins the context too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.diffusion.denoise import Predict
from intarsia.engine.families.diffusion_gemma.canvas.layout import CanvasSizes
from intarsia.engine.families.diffusion_gemma.canvas.tokenizer import GemmaTokenizer
from intarsia.engine.families.diffusion_gemma.next_edit.context_reader import ContextReader
from intarsia.engine.families.project_text import ProjectText
from intarsia.engine.fill_control import FillControl


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """The window before an edit or after it."""

    text: bytes
    edit_start: int | None  # where an edit below the scored lines begins; None: it is above them


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """Lines of a version, by their offsets in bytes."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """The forward pass after the text above some lines, and ids of the text below them."""

    predict: Predict
    following: Sequence[int]


class SurroundingsReader:
    """Reads what is around lines."""

    def __init__(self, contexts: ContextReader, text: GemmaTokenizer, sizes: CanvasSizes) -> None:
        self._contexts = contexts
        self._text = text
        self._sizes = sizes

    def max_scored(self, version: Version) -> int:
        """Return how many tokens can be scored in one canvas."""
        return self._sizes.canvas_length - self._num_following(version)

    def for_score(self, version: Version, span: Span, control: FillControl) -> Surroundings:
        """Return what lines are scored in. Raises Cancelled."""
        return self._read(version, span, self._num_following(version), (), control)

    def for_refill(
        self, version: Version, span: Span, known: Sequence[int], control: FillControl
    ) -> Surroundings:
        """Return what lines are refilled in: both sides, with known ids first. Raises Cancelled."""
        return self._read(version, span, self._sizes.max_suffix, known, control)

    def _num_following(self, version: Version) -> int:
        return 0 if version.edit_start is None else self._sizes.max_suffix

    def _read(
        self,
        version: Version,
        span: Span,
        num_following: int,
        known: Sequence[int],
        control: FillControl,
    ) -> Surroundings:
        following = self._text.encode(version.text[span.end :].decode())
        is_far = version.edit_start is not None and len(following) > num_following
        far = version.text[version.edit_start :].decode() if is_far else ""
        prefix = version.text[: span.start].decode()
        ids = self._text.context(prefix, far, ProjectText(files=known))
        context = self._contexts.read(ids, control)
        return Surroundings(
            predict=self._contexts.predict_after(context), following=following[:num_following]
        )
