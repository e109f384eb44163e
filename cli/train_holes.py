"""Training holes as text → token ids, as a fill of the same hole would be encoded."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Literal

from intarsia.corpus.holes import TrainingHole
from intarsia.engine.families.fim_text import FimText
from intarsia.engine.training.packed_holes import HoleIds
from intarsia.infill.healing import given_start
from intarsia.infill.lines import with_plain_newlines

_PREFIX_CHARS = 1_200  # more than the tokens that a training canvas sees
_SUFFIX_CHARS = 700
_FEWEST_TOKENS = 2


def encode_holes(
    holes: Iterable[TrainingHole],
    text: FimText,
    *,
    grouped_by: Literal["package", "file"] = "package",
) -> Iterator[HoleIds]:
    """Return the ids of each hole; holes of one package, or of one file, share a group."""
    text.mark_ids()  # a model that lacks one fails before the work
    for hole in holes:
        start = given_start(hole.prefix, len(hole.prefix))
        prefix = with_plain_newlines(hole.prefix[:start][-_PREFIX_CHARS:])
        middle = with_plain_newlines(hole.prefix[start:] + hole.hole)
        suffix = with_plain_newlines(hole.suffix[:_SUFFIX_CHARS]) or "\n"
        ids = text.encode(middle)
        if len(ids) < _FEWEST_TOKENS:
            continue
        source = hole.path if grouped_by == "file" else hole.package
        yield HoleIds(
            prefix=text.encode(prefix),
            middle=ids,
            suffix=text.encode(suffix),
            group=zlib.crc32(source.encode()) & 0x7FFFFFFF,
        )
