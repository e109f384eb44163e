"""Candidates for lines that no longer fit: the model's answer, and a replacement.

The model writes the lines again after the edit as an example. The words that the edit replaced are
also replaced in the line, and the model only says how likely it would have written that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from intarsia.engine.arrays import Array, floats, logsumexp, namespace
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.next_edit.edited_window import (
    WindowLine,
    lines_of,
    with_newline,
)
from intarsia.engine.families.masked_causal.next_edit.example import (
    example_text,
    lines_to_correct,
    num_added_lines,
    substituted,
)
from intarsia.engine.families.masked_causal.next_edit.scoring import LineDrop, log_probabilities
from intarsia.engine.families.masked_causal.next_edit.window_reader import read_on
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import EditExample


@dataclass(frozen=True, kw_only=True, slots=True)
class LineChange:
    """New lines in the place of ``num_lines`` lines from ``first`` on (an index into a region)."""

    first: int
    num_lines: int
    new_lines: Sequence[str]


def places_to_correct(
    drops: Sequence[LineDrop], lines: Sequence[WindowLine], num_above: int, *, most: int
) -> Iterator[tuple[LineDrop, Sequence[WindowLine]]]:
    """Yield ``most`` places at most and their regions, the largest drop first, no line twice."""
    tried: set[int] = set()
    num_tried = 0
    for found in drops:
        if found.line.number in tried:
            continue
        if num_tried == most:
            return
        num_tried += 1
        region = region_of(lines, found.line, num_above)
        tried.update(line.number for line in region)
        yield found, region


def region_of(
    lines: Sequence[WindowLine], place: WindowLine, num_above: int
) -> Sequence[WindowLine]:
    """Return a place after up to ``num_above`` lines next to it, as far as these may change."""
    last = lines.index(place)
    first = last
    while first > 0 and last - first < num_above:
        above = lines[first - 1]
        if not (
            above.is_followed_by(lines[first]) and above.may_change and lines[first].may_change
        ):
            break
        first -= 1
    return lines[first : last + 1]


def smallest_change(old: Sequence[str], new: Sequence[str], place: int) -> LineChange | None:
    """Return the change of whole lines that is nearest to line ``place``; None if there is none."""
    changes = [
        LineChange(first=start, num_lines=end - start, new_lines=new[new_start:new_end])
        for tag, start, end, new_start, new_end in SequenceMatcher(
            None, old, new, autojunk=False
        ).get_opcodes()
        if tag != "equal"
    ]
    return min(changes, key=lambda change: _distance(change, place), default=None)


def _distance(change: LineChange, place: int) -> int:
    last = change.first + max(change.num_lines, 1) - 1
    return max(change.first - place, place - last, 0)


_MAX_PROPOSED = 24  # tokens a pass, while the draft is repeated
_AFTER_CHANGE = 6  # tokens proposed directly after one that is not the draft's
_MAX_MORE = 96  # tokens more than the draft has


@dataclass(frozen=True, kw_only=True, slots=True)
class Rewritten:
    """The ids that were written, without the end mark, and their log-probability with it."""

    ids: Sequence[int]
    log_p: float


class Rewriter:
    """Writes after a prompt with one backbone."""

    def __init__(self, backbone: CausalBackbone, end_ids: frozenset[int]) -> None:
        self._backbone = backbone
        self._end_ids = end_ids

    def write(
        self, cache: KvCache, prompt: Sequence[int], draft: Sequence[int], control: FillControl
    ) -> Rewritten:
        """Return what follows the prompt; the cache is written to. Raises Cancelled."""
        hidden = self.read(cache, prompt, control)
        ids: list[int] = []
        log_p, at = 0.0, 0
        proposal = list(draft[:_MAX_PROPOSED])
        first = self._choose(hidden)
        while True:
            token, chosen_log_p = first
            log_p += chosen_log_p
            if token in self._end_ids or len(ids) >= len(draft) + _MAX_MORE:
                return Rewritten(ids=ids, log_p=log_p)
            at, is_copied = _follow(draft, at, token)
            ids.append(token)
            size = _MAX_PROPOSED if is_copied else _AFTER_CHANGE
            proposal = list(draft[at : at + size])
            control.checkpoint()
            accepted, first = self._verify(cache, token, proposal)
            for copied, copied_log_p in accepted:
                log_p += copied_log_p
                ids.append(copied)
            at += len(accepted)

    def read(self, cache: KvCache, prompt: Sequence[int], control: FillControl) -> Array:
        """Write a prompt into a cache; return its last row (1, hidden). Raises Cancelled."""
        hidden = list(read_on(self._backbone, cache, prompt, control))
        return hidden[-1][-1:]

    def log_probability(
        self, cache: KvCache, prompt: Sequence[int], ids: Sequence[int], control: FillControl
    ) -> float:
        """Return how likely ids, then an end mark, follow the prompt, in nats. Raises Cancelled."""
        parts = [self.read(cache, prompt, control), *read_on(self._backbone, cache, ids, control)]
        rows = namespace(*parts).concat(parts)
        likely = log_probabilities(self._backbone, rows[:-1], ids, control).sum()
        logits = floats(self._backbone.logits(rows[-1:]))[0]
        end = logits[list(self._end_ids)].max() - logsumexp(logits)
        return float(likely + end)

    def _choose(self, hidden: Array) -> tuple[int, float]:
        """Return the likeliest token after a row (1, hidden), and its log-probability."""
        logits = floats(self._backbone.logits(hidden))[0]
        token = int(logits.argmax())
        return token, float(logits[token] - logsumexp(logits))

    def _verify(
        self, cache: KvCache, token: int, proposal: Sequence[int]
    ) -> tuple[list[tuple[int, float]], tuple[int, float]]:
        """Return the proposed tokens that the model would write itself, and its next token."""
        ids = [token, *proposal]
        cache.reserve(len(ids))
        rows = frozen_rows(ids, start=len(cache))
        logits = floats(self._backbone.logits(self._backbone.forward(rows, cache)))
        likeliest = logits.argmax(-1).tolist()
        log_p = (namespace(logits).max(logits, axis=-1) - logsumexp(logits)).tolist()
        num = 0
        while num < len(proposal) and likeliest[num] == proposal[num]:
            num += 1
        cache.commit(ids[: num + 1])
        accepted = list(zip(likeliest[:num], log_p[:num], strict=True))
        return accepted, (likeliest[num], log_p[num])


def _follow(draft: Sequence[int], at: int, token: int) -> tuple[int, bool]:
    """Return where the draft goes on after a token, and whether the token is the draft's own."""
    for index in range(at, min(len(draft), at + _AFTER_CHANGE)):
        if draft[index] == token:
            return index + 1, index == at
    return min(at + 1, len(draft)), False


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """A change of a region's lines, and its log-probability after the edit as an example."""

    change: LineChange
    log_p: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """Lines that may be written again. ``place`` is the index of the line that no longer fits."""

    lines: Sequence[str]
    place: int


class CorrectionWriter:
    """Writes corrections with one backbone. It sees the example and the lines, not the window."""

    def __init__(self, backbone: CausalBackbone, text: FimTokenizer) -> None:
        self._backbone = backbone
        self._text = text
        self._rewriter = Rewriter(backbone, text.end_ids)

    def write(
        self, region: Region, example: EditExample, control: FillControl
    ) -> Iterator[Correction]:
        """Yield the corrections of a region, each once. Raises Cancelled between two passes."""
        *prompt, last = _rewrite_prompt(self._text, example, "".join(region.lines))
        read = self._backbone.new_cache()
        self._rewriter.read(read, prompt, control)
        replaced = _replaced(region, example)
        draft = self._text.encode(with_newline("".join(replaced[0] if replaced else region.lines)))
        answer = self._rewriter.write(self._copy(read), [last], draft, control)
        new = "".join(self._text.pieces(answer.ids, num_given=0))
        most = len(region.lines) + num_added_lines(example)
        written = _change(region, "".join(lines_of(with_newline(new))[:most]))
        if written is not None:
            yield Correction(change=written, log_p=answer.log_p)
        for lines in replaced:
            by_words = _change(region, "".join(lines))
            if by_words is not None and by_words != written:
                ids = self._text.encode(with_newline("".join(lines)))
                log_p = self._rewriter.log_probability(self._copy(read), [last], ids, control)
                yield Correction(change=by_words, log_p=log_p)

    def _copy(self, cache: KvCache) -> KvCache:
        copy = self._backbone.new_cache()
        copy.copy_prefix(cache, len(cache))
        return copy


def _replaced(region: Region, example: EditExample) -> Sequence[Sequence[str]]:
    """Return the lines with replacements of the edit in the place's line, in each way."""
    above, below = region.lines[: region.place], region.lines[region.place + 1 :]
    return [[*above, line, *below] for line in substituted(region.lines[region.place], example)]


def _change(region: Region, new: str) -> LineChange | None:
    old = lines_of(with_newline("".join(region.lines)))
    return smallest_change(old, lines_of(with_newline(new)), place=region.place)


def _rewrite_prompt(text: FimTokenizer, example: EditExample, lines: str) -> list[int]:
    """Return the ids after which the model writes the corrected lines, then its end mark."""
    return [
        *_begin(text),
        *text.encode(example_text(example)),
        *_begin(text),
        *text.encode(lines_to_correct(lines)),
    ]


def _begin(text: FimTokenizer) -> Sequence[int]:
    """Return the mark of a new file, which keeps the parts apart; none if there is no such mark."""
    return () if text.repository is None else (text.mark_id(text.repository.before_file),)
