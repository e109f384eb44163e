"""Hides each word of a text once, so that a model must predict it from all the others.

A canvas attends in both directions, so a token that a pass shows says nothing about itself. The
words are therefore hidden in a few passes, each pass a share. This gives a pseudo-log-likelihood
(arXiv 1910.14659). All tokens of a word are hidden together: any of its tokens would betray the
others (arXiv 2305.10588). So are all places of the same word: an outdated name that is still on
other lines would speak for itself.

Hidden tokens are replaced as the model's own diffusion does it, by others from the whole
vocabulary. The noise of a line depends on its text alone. So equal lines have the same noise, in a
text before an edit and after it, and beside old lines and new ones.
"""

import re
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from intarsia.engine.families.diffusion_gemma.canvas.tokenizer import TokenizedText
from intarsia.engine.families.next_edit.code_lines import lines_of

NUM_PASSES = 4
"""Passes in which a text is hidden. Fewer hide more at once, and leave less to predict it from."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class HiddenText:
    """The ids of a text, a replacement for each, and the pass in which each is hidden."""

    ids: Tensor  # (tokens,) long
    noise: Tensor  # (tokens,) long: never the token itself
    passes: Tensor  # (tokens,) long, 0 to NUM_PASSES - 1

    def shown_in(self, number: int) -> Tensor:
        """Return the ids (tokens,) as a pass shows them."""
        return torch.where(self.passes == number, self.noise, self.ids)


def hide(tokens: TokenizedText, *, vocab_size: int) -> HiddenText:
    """Choose when each token of a text is hidden, and by what.

    Equal texts are hidden in the same way, always.
    """
    texts = lines_of(tokens.text)
    starts = list(accumulate((len(line) for line in texts), initial=0))
    lines = [bisect_right(starts, start) - 1 for start in tokens.starts]
    # a token without text of its own, at the end, belongs to the last line
    lines = [min(line, len(texts) - 1) for line in lines]
    # a line's first token may begin in the line above, so its tokens are counted from its end
    places = [bisect_right(lines, line) - 1 - i for i, line in enumerate(lines)]
    shifts: list[int] = []
    for line in dict.fromkeys(lines):
        shifts += _draw(texts[line], lines.count(line), vocab_size)[::-1]
    ids = torch.tensor(tokens.ids, dtype=torch.long)
    return HiddenText(
        ids=ids,
        noise=(ids + torch.tensor(shifts, dtype=torch.long)) % vocab_size,
        passes=torch.tensor(_passes(tokens, places), dtype=torch.long),
    )


def _draw(line: str, num_tokens: int, vocab_size: int) -> list[int]:
    """Return how far the noise of each token is from it in the vocabulary: uniform, never 0.

    The last token's comes first.
    """
    generator = torch.Generator().manual_seed(zlib.crc32(line.encode("utf-8", "replace")))
    return torch.randint(1, vocab_size, (num_tokens,), generator=generator).tolist()


def _passes(tokens: TokenizedText, places: Sequence[int]) -> list[int]:
    """Return the pass of each token: that of its word, else by its place in its line."""
    passes = [place % NUM_PASSES for place in places]
    for word in _WORD.finditer(tokens.text):
        own = zlib.crc32(word.group().encode("utf-8", "replace")) % NUM_PASSES
        for i in range(tokens.token_at(word.start()), tokens.token_at(word.end() - 1) + 1):
            passes[i] = own
    return passes
