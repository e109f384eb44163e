"""Encode training holes for DiffusionGemma as a fill of the same hole would be encoded."""

import zlib
from collections.abc import Iterable, Iterator

from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.infill.holes.hole import given_start
from intarsia.infill.syntax.text import with_plain_newlines
from intarsia_research.training.draw_holes import TrainingHole
from intarsia_research.training.packed_holes import HoleIds

_PREFIX_CHARS = 2_400
_SUFFIX_CHARS = 1_000


def encode_gemma_holes(
    holes: Iterable[TrainingHole], tokenizer: GemmaTokenizer, *, max_suffix: int, max_middle: int
) -> Iterator[HoleIds]:
    """Return the ids of each hole of at most ``max_middle`` tokens.

    A suffix of more than ``max_suffix`` tokens is also shown before the prefix. Holes of one
    package share a group.
    """
    for hole in holes:
        start = given_start(hole.prefix, len(hole.prefix))
        prefix = with_plain_newlines(hole.prefix[:start][-_PREFIX_CHARS:])
        suffix = with_plain_newlines(hole.suffix[:_SUFFIX_CHARS])
        middle = tokenizer.encode(with_plain_newlines(hole.hole))
        suffix_ids = tokenizer.encode(suffix)
        if not 1 <= len(middle) <= max_middle:
            continue
        yield HoleIds(
            prefix=tokenizer.context(prefix, suffix if len(suffix_ids) > max_suffix else ""),
            given=tokenizer.encode(with_plain_newlines(hole.prefix[start:])),
            middle=middle,
            suffix=suffix_ids,
            group=zlib.crc32(hole.package.encode()) & 0x7FFFFFFF,
        )
