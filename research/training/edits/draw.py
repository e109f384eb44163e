"""Draws training examples from edits of commits: after one hunk, rewrite lines near the others.

One hunk is the user's edit. Near each of the others some lines are to be rewritten, and elsewhere
some lines are to be left as they are. The ids are laid out by the engine's own functions.
"""

import random
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from intarsia.engine.families.masked_causal.next_edit.prompt import (
    rewrite_prompt,
    window_above,
    window_below,
)
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.ipc.messages import EditExample
from intarsia_research.edits.edit_case import CommitHunk, EditCase, lines_of
from intarsia_research.training.holes.packed_holes import HoleIds

_MAX_PLACES = 3  # of one commit: one with many of the same kind counts no more than that
_MAX_PROMPT = 320  # tokens
_MAX_ANSWER = 160  # tokens
_NUM_TRIED = 8  # places among which the most similar one is to be left alone
_WORD = re.compile(r"\w+")

_Span: TypeAlias = tuple[int, int]  # indexes of lines, the last one excluded


@dataclass(frozen=True, kw_only=True, slots=True)
class EditDraw:
    """How examples are drawn. The range is in tokens."""

    seed: int
    around_place: tuple[int, int] = (8, 96)  # of code before a place, and after its start
    share_above: float = 0.2  # of the edits with hunks above them
    share_earlier_done: float = 0.5  # of the commits: hunks above the edit are done already
    share_done: float = 0.2  # of the hunks between the edit and a place
    share_left_alone: float = 0.3  # of the edits: one more place, which does not change
    share_controls: float = 0.5  # of the commits that changed one place only

    def draw_size(self, rng: random.Random) -> int:
        """Return a size in the range ``around_place``, more often a small one."""
        least, most = self.around_place
        return least + int((most - least) * rng.random() ** 1.5)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """A line of the file as it is when the model sees it."""

    text: str
    number: int | None  # in the text before the commit; None: a hunk wrote it


@dataclass(frozen=True, kw_only=True, slots=True)
class _State:
    """The file after the user's edit: the lines above it, its own, and those below it."""

    above: Sequence[_Line]
    edit: str
    below: Sequence[_Line]
    open_hunks: Sequence[CommitHunk]
    example: EditExample


def draw_edits(cases: Iterable[EditCase], text: FimTokenizer, draw: EditDraw) -> Iterator[HoleIds]:
    """Yield the examples of all cases, those of one repository as one group.

    Of an example's ids the window is ``prefix``, the prompt is ``given`` and the answer ``middle``.
    """
    for case in cases:
        rng = random.Random(f"{draw.seed}/{case.id}")
        group = zlib.crc32(case.repo.encode()) & 0x7FFFFFFF
        for window, lines, answer, example in _examples(case, text, draw, rng):
            prompt, middle = rewrite_prompt(text, example, lines), text.encode(answer)
            if len(prompt) <= _MAX_PROMPT and len(middle) <= _MAX_ANSWER:
                yield HoleIds(prefix=window, given=prompt, middle=middle, suffix=(), group=group)


def _examples(
    case: EditCase, text: FimTokenizer, draw: EditDraw, rng: random.Random
) -> Iterator[tuple[list[int], str, str, EditExample]]:
    """Yield windows, lines to rewrite, these rewritten, and the edit."""
    hunks = case.hunks
    index = 0 if len(hunks) == 1 or rng.random() < 0.5 else rng.randrange(len(hunks))
    is_above = bool(index) and (index == len(hunks) - 1 or rng.random() < draw.share_above)
    state = _state(case, index, draw, rng, is_above=is_above)
    shown = state.above if is_above else state.below
    size = draw.draw_size(rng)
    places = [hunk for hunk in state.open_hunks if hunk.follows and _is_within(hunk, shown)]
    rng.shuffle(places)
    for hunk in places[:_MAX_PLACES]:
        region = _grown(shown, state.open_hunks, _around(hunk, shown, rng))
        lines, answer = _rewritten(shown[slice(*region)], state.open_hunks)
        if lines != answer:
            window = _window(state, region, size, text, is_above=is_above)
            yield window, lines, answer, state.example
    if rng.random() < (draw.share_controls if case.is_control else draw.share_left_alone):
        alone = _left_alone(shown, state, rng)
        if alone is not None:
            lines = _join(shown[slice(*alone)])
            window = _window(state, alone, size, text, is_above=is_above)
            yield window, lines, lines, state.example


def _state(
    case: EditCase, index: int, draw: EditDraw, rng: random.Random, *, is_above: bool
) -> _State:
    """Return the file after hunk ``index``, and after some of the others."""
    lines = lines_of(case.before)
    edit = case.hunks[index]
    is_earlier_done = not is_above and rng.random() < draw.share_earlier_done
    done = {
        i
        for i, hunk in enumerate(case.hunks)
        if i != index
        and (is_earlier_done if (i < index and not is_above) else rng.random() < draw.share_done)
    }
    above, below = list[_Line](), list[_Line]()
    at = 0
    for i, hunk in enumerate(case.hunks):
        part = above if i <= index else below
        part += [_Line(text=lines[n], number=n) for n in range(at, hunk.start)]
        if i in done:
            part += [_Line(text=new, number=None) for new in lines_of(hunk.new_text)]
        elif i != index:
            part += [_Line(text=lines[n], number=n) for n in range(hunk.start, hunk.end)]
        at = hunk.end
    below += [_Line(text=lines[n], number=n) for n in range(at, len(lines))]
    return _State(
        above=above,
        edit=edit.new_text,
        below=below,
        open_hunks=[h for i, h in enumerate(case.hunks) if i != index and i not in done],
        example=_example(edit, above, below),
    )


def _example(edit: CommitHunk, above: Sequence[_Line], below: Sequence[_Line]) -> EditExample:
    if edit.old_text:
        return EditExample(before=edit.old_text, after=edit.new_text)
    first = above[-1].text if above else ""
    last = below[0].text if below else ""
    return EditExample(before=first + last, after=first + edit.new_text + last)


def _window(
    state: _State, region: _Span, size: int, text: FimTokenizer, *, is_above: bool
) -> list[int]:
    """Return the ids of a region and of the code around it, as far as the size allows."""
    start, end = region
    edit = [_Line(text=line, number=None) for line in lines_of(state.edit)]
    lines = state.above if is_above else state.below
    preceding = [] if is_above else [*state.above, *edit]
    before = _take(reversed([*preceding, *lines[:start]]), size, text)[::-1]
    window = _join([*before, *lines[start:end], *_take(lines[end:], size, text)])
    if is_above:
        return window_above(text, window, state.edit + _join(_take(state.below, size, text)))
    return window_below(text, window)


def _take(lines: Iterable[_Line], num_tokens: int, text: FimTokenizer) -> list[_Line]:
    taken: list[_Line] = []
    for line in lines:
        num_tokens -= len(text.encode(line.text))
        if num_tokens < 0:
            break
        taken.append(line)
    return taken


def _join(lines: Iterable[_Line]) -> str:
    return "".join(line.text for line in lines)


def _is_within(hunk: CommitHunk, shown: Sequence[_Line]) -> bool:
    numbers = {line.number for line in shown}
    if hunk.start == hunk.end:
        return hunk.start in numbers
    return all(n in numbers for n in range(hunk.start, hunk.end))


def _around(hunk: CommitHunk, shown: Sequence[_Line], rng: random.Random) -> _Span:
    """Return a range of indexes into ``shown`` that holds the hunk, and some lines around it."""
    index_of = {line.number: i for i, line in enumerate(shown)}
    start = index_of[hunk.start]
    end = start + max(1, hunk.end - hunk.start)
    start -= rng.choice((0, 1, 1, 2, 2, 3))
    end += rng.choice((0, 1, 2, 2, 3, 3))
    return max(0, start), min(len(shown), end)


def _grown(shown: Sequence[_Line], open_hunks: Sequence[CommitHunk], region: _Span) -> _Span:
    """Return the region with the whole of each hunk that it cuts."""
    start, end = region
    index_of = {line.number: i for i, line in enumerate(shown) if line.number is not None}
    for hunk in open_hunks:
        own = [index_of[n] for n in range(hunk.start, hunk.end) if n in index_of]
        if own and own[0] < end and own[-1] >= start:
            start, end = min(start, own[0]), max(end, own[-1] + 1)
    return start, end


def _rewritten(region: Sequence[_Line], open_hunks: Sequence[CommitHunk]) -> tuple[str, str]:
    """Return the lines of a region, and the same with every open hunk in it done."""
    replaced = {n: hunk for hunk in open_hunks for n in range(hunk.start, hunk.end)}
    inserted = {hunk.start: hunk.new_text for hunk in open_hunks if hunk.start == hunk.end}
    return _join(region), "".join(_done(line, replaced, inserted) for line in region)


def _done(line: _Line, replaced: Mapping[int, CommitHunk], inserted: Mapping[int, str]) -> str:
    """Return what is in the place of a line once all hunks are done."""
    if line.number is None:
        return line.text
    hunk = replaced.get(line.number)
    if hunk is None:
        return inserted.get(line.number, "") + line.text
    new = hunk.new_text if line.number == hunk.start else ""
    return inserted.get(line.number, "") + new


def _left_alone(shown: Sequence[_Line], state: _State, rng: random.Random) -> _Span | None:
    """Return a region that stays as it is, similar to the edit; None if there is none."""
    changed = {n for h in state.open_hunks for n in range(h.start - 1, max(h.end, h.start + 1) + 1)}
    words = set(_WORD.findall(state.example.before + state.example.after))

    def similarity(span: _Span) -> float:
        own = set(_WORD.findall(_join(shown[slice(*span)])))
        return len(own & words) / max(1, len(own | words))

    tried: list[_Span] = []
    for _ in range(_NUM_TRIED):
        start = rng.randrange(max(1, len(shown)))
        end = min(len(shown), start + rng.randint(2, 6))
        region = shown[start:end]
        if _join(region).strip() and not any(line.number in changed for line in region):
            tried.append((start, end))
    return max(tried, key=similarity, default=None)
