"""Encode training holes as token ids, as a fill of the same hole would be encoded."""

import random
import zlib
from collections.abc import Iterable, Iterator
from typing import Literal

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.context_boundary import (
    MAX_CHARS_AFTER,
    boundary_offset,
)
from intarsia.engine.families.masked_causal.read_request import lay_out_project, split_after_context
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.infill.filling.plan import to_project_context
from intarsia.infill.holes.hole import given_start
from intarsia.infill.syntax.text import with_plain_newlines
from intarsia_research.training.draw_holes import TrainingHole
from intarsia_research.training.packed_holes import HoleIds

LAYOUT = "anchored"
"""The name of the layout of holes: a run that started with another layout is not resumed."""

_PREFIX_CHARS = 1_200  # more than the tokens of the default windows
_SUFFIX_CHARS = 700
_CHARS_PER_TOKEN = 4  # of code: few tokens have more
_MAX_PROJECT = 1_024  # tokens: more than the chunks of any budget have
_MIN_TOKENS = 2
_MAX_GIVEN = 192  # tokens: one hole with many would make its whole batch as long
_BOUNDARY_WEIGHTS = {0: 0.2, 1: 0.6, 2: 0.2}
"""How often a context ends at the hole, at the boundary that a first request sets, or at the one
above that, as after a user has typed more lines."""


def encode_holes(
    holes: Iterable[TrainingHole],
    tokenizer: FimTokenizer,
    *,
    grouped_by: Literal["package", "file"] = "package",
    window: tuple[int, int] | None = None,
) -> Iterator[HoleIds]:
    """Return the ids of each hole; holes of one package, or of one file, share a group.

    ``window``: tokens of the file before and after a hole that training shows; None is a default.
    """
    num_before, num_after = window or (0, 0)
    prefix_chars = max(_PREFIX_CHARS, _CHARS_PER_TOKEN * num_before)
    suffix_chars = max(_SUFFIX_CHARS, _CHARS_PER_TOKEN * num_after)
    tokenizer.mark_ids()  # a model without the marks fails before the work
    for hole in holes:
        start = given_start(hole.prefix, len(hole.prefix))
        before = with_plain_newlines(hole.prefix[:start][-prefix_chars:])
        typed = with_plain_newlines(hole.prefix[start:])
        suffix = with_plain_newlines(hole.suffix[:suffix_chars]) or "\n"
        boundary = _draw_boundary(before)
        after_boundary = before[boundary:]
        ids = tokenizer.encode(after_boundary + typed + with_plain_newlines(hole.hole))
        given = split_after_context(tokenizer, after_boundary, typed)[0]
        num_given = common_prefix_length(given, ids)
        if len(ids) - num_given < _MIN_TOKENS or num_given > _MAX_GIVEN:
            continue
        source = hole.path if grouped_by == "file" else hole.package
        project = to_project_context(hole.chunks, _repository(hole.package), hole.path)
        yield HoleIds(
            prefix=tokenizer.encode(before[:boundary]),
            given=ids[:num_given],
            middle=ids[num_given:],
            suffix=tokenizer.encode(suffix),
            group=zlib.crc32(source.encode()) & 0x7FFFFFFF,
            project=lay_out_project(tokenizer, project, max_tokens=_MAX_PROJECT),
        )


def _repository(package: str) -> str:
    """Return the name that a package's folder has: without ecosystem and scope."""
    return package.rpartition(":")[2].rpartition("/")[2]


def _draw_boundary(prefix: str) -> int:
    """Draw the offset where the context ends; the same prefix always draws the same."""
    rng = random.Random(zlib.crc32(prefix.encode("utf-8", "surrogatepass")))
    offset = len(prefix)
    for _ in range(rng.choices(list(_BOUNDARY_WEIGHTS), list(_BOUNDARY_WEIGHTS.values()))[0]):
        above = boundary_offset(prefix[:offset])
        if above is None or len(prefix) - above > MAX_CHARS_AFTER:
            break
        offset = above
    return offset
