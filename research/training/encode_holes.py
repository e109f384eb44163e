"""Training holes as text → token ids, as a fill of the same hole would be encoded."""

import random
import zlib
from collections.abc import Iterable, Iterator
from typing import Literal

from intarsia.engine.families.masked_causal.context_boundary import (
    MAX_CHARS_AFTER,
    boundary_offset,
)
from intarsia.engine.families.masked_causal.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.read_request import split_after_context
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.infill.holes.token_healing import given_start
from intarsia.infill.syntax.lines import with_plain_newlines
from intarsia.research.corpus.holes import TrainingHole
from intarsia.research.training.packed_holes import HoleIds

LAYOUT = "anchored"
"""How holes are laid out: a run that began with another way does not go on."""

_PREFIX_CHARS = 1_200  # more than the tokens that a training canvas sees
_SUFFIX_CHARS = 700
_FEWEST_TOKENS = 2
_MOST_GIVEN = 192  # tokens: signs of several tokens each would make a whole pass as long
_ANCHOR_WEIGHTS = {0: 0.2, 1: 0.6, 2: 0.2}
"""How often a context ends at the hole, at the anchor that a first request sets, or at one above
that, as of a user who has typed on since."""


def encode_holes(
    holes: Iterable[TrainingHole],
    text: FimTokenizer,
    *,
    grouped_by: Literal["package", "file"] = "package",
) -> Iterator[HoleIds]:
    """Return the ids of each hole; holes of one package, or of one file, share a group."""
    text.mark_ids()  # a model that lacks one fails before the work
    for hole in holes:
        start = given_start(hole.prefix, len(hole.prefix))
        before = with_plain_newlines(hole.prefix[:start][-_PREFIX_CHARS:])
        typed = with_plain_newlines(hole.prefix[start:])
        suffix = with_plain_newlines(hole.suffix[:_SUFFIX_CHARS]) or "\n"
        anchor = _anchor(before)
        behind = before[anchor:]
        ids = text.encode(behind + typed + with_plain_newlines(hole.hole))
        num_given = common_prefix_length(split_after_context(text, behind, typed)[0], ids)
        if len(ids) - num_given < _FEWEST_TOKENS or num_given > _MOST_GIVEN:
            continue
        source = hole.path if grouped_by == "file" else hole.package
        yield HoleIds(
            prefix=text.encode(before[:anchor]),
            given=ids[:num_given],
            middle=ids[num_given:],
            suffix=text.encode(suffix),
            group=zlib.crc32(source.encode()) & 0x7FFFFFFF,
        )


def _anchor(prefix: str) -> int:
    """Draw where the context ends; the same prefix draws the same."""
    luck = random.Random(zlib.crc32(prefix.encode("utf-8", "surrogatepass")))
    offset = len(prefix)
    for _ in range(luck.choices(list(_ANCHOR_WEIGHTS), list(_ANCHOR_WEIGHTS.values()))[0]):
        above = boundary_offset(prefix[:offset])
        if above is None or len(prefix) - above > MAX_CHARS_AFTER:
            break
        offset = above
    return offset
