"""Lays out an encoded hole as one sequence of token ids, in the order in which a fill is read."""

from dataclasses import dataclass

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimIds
from intarsia.training.packed_holes import HoleIds


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """The most tokens that are shown of a hole and of its file, code of other files aside."""

    prefix: int
    suffix: int
    middle: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LaidOut:
    """All ids, and the indexes where the parts of the file begin or end."""

    ids: list[int]
    prefix_start: int  # after the mark, and what is read of other files
    prefix_end: int
    context_end: int  # with the suffix and its marks
    given_end: int


def lay_out(hole: HoleIds, fim: FimIds, shown: Shown) -> LaidOut:
    """Return the hole after its context; its end mark follows if nothing of it is cut off."""
    middle = list(hole.middle[: shown.middle])
    is_whole = len(middle) == len(hole.middle)
    prefix = hole.prefix[-shown.prefix :]
    start = [*hole.project.before_mark, fim.before_prefix, *hole.project.in_prefix]
    suffix = [fim.before_suffix, *hole.suffix[: shown.suffix], fim.before_middle]
    context = [*start, *prefix, *suffix]
    return LaidOut(
        ids=[*context, *hole.given, *middle, *([fim.end] if is_whole else [])],
        prefix_start=len(start),
        prefix_end=len(start) + len(prefix),
        context_end=len(context),
        given_end=len(context) + len(hole.given),
    )
