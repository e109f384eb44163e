"""Training holes as text → DiffusionGemma's token ids, as a fill of the same hole is encoded."""

import zlib
from collections.abc import Iterable, Iterator

from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.infill.holes.token_healing import given_start
from intarsia.infill.syntax.lines import with_plain_newlines
from intarsia.research.corpus.holes import TrainingHole
from intarsia.research.training.packed_holes import HoleIds

_PREFIX_CHARS = 2_400
_SUFFIX_CHARS = 1_000


def encode_gemma_holes(
    holes: Iterable[TrainingHole], text: GemmaTokenizer, *, max_suffix: int, max_middle: int
) -> Iterator[HoleIds]:
    """Return the ids of each hole of at most ``max_middle`` tokens; a suffix of more than
    ``max_suffix`` is told before the prefix too. Holes of one package share a group."""
    for hole in holes:
        start = given_start(hole.prefix, len(hole.prefix))
        prefix = with_plain_newlines(hole.prefix[:start][-_PREFIX_CHARS:])
        suffix = with_plain_newlines(hole.suffix[:_SUFFIX_CHARS])
        middle, behind = text.encode(with_plain_newlines(hole.hole)), text.encode(suffix)
        if not 1 <= len(middle) <= max_middle:
            continue
        yield HoleIds(
            prefix=text.context(prefix, suffix if len(behind) > max_suffix else ""),
            given=text.encode(with_plain_newlines(hole.prefix[start:])),
            middle=middle,
            suffix=behind,
            group=zlib.crc32(hole.package.encode()) & 0x7FFFFFFF,
        )
