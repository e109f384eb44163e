"""Draws training examples from edits of commits: after one hunk, rewrite lines near the others.

One hunk is the user's edit. Near each of the others some lines are to be rewritten, and elsewhere
some lines are to be left as they are. The ids are laid out by the engine's own functions.
"""

import random
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from intarsia.engine.families.masked_causal.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.next_edit.prompt import (
    rewrite_prompt,
    window_above,
    window_below,
)
from intarsia.engine.ipc.messages import EditExample
from intarsia.research.training.edits.edit_case import EditCase, Hunk
from intarsia.research.training.holes.packed_holes import HoleIds

_MAX_PLACES = 3  # of one commit: one with many of the same kind counts no more than that
_MAX_PROMPT = 320  # tokens
_MAX_ANSWER = 160  # tokens
_NUM_TRIED = 8  # places among which the most similar one is to be left alone
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True, slots=True)
class EditDraw:
    """How examples are drawn. Ranges are in tokens."""

    seed: int
    before_edit: tuple[int, int] = (16, 96)
    after_edit: tuple[int, int] = (96, 360)
    share_above: float = 0.2  # of the edits with hunks above them
    share_earlier_done: float = 0.5  # of the commits: hunks above the edit are done already
    share_done: float = 0.2  # of the hunks between the edit and a place
    share_left_alone: float = 0.3  # of the edits: one more place, which does not change
    share_controls: float = 0.5  # of the commits that changed one place only


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
    open_hunks: Sequence[Hunk]
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
    shown, window = _window(state, text, draw, rng, is_above=is_above)
    places = [hunk for hunk in state.open_hunks if hunk.follows and _is_within(hunk, shown)]
    rng.shuffle(places)
    for hunk in places[:_MAX_PLACES]:
        lines, answer = _rewritten(shown, state.open_hunks, _around(hunk, shown, rng))
        if lines != answer:
            yield window, lines, answer, state.example
    if rng.random() < (draw.share_controls if case.is_control else draw.share_left_alone):
        alone = _left_alone(shown, state, rng)
        if alone is not None:
            yield window, alone, alone, state.example


def _state(
    case: EditCase, index: int, draw: EditDraw, rng: random.Random, *, is_above: bool
) -> _State:
    """Return the file after hunk ``index``, and after some of the others."""
    lines = case.before.splitlines(keepends=True)
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
            part += [_Line(text=new, number=None) for new in hunk.new_text.splitlines(True)]
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


def _example(edit: Hunk, above: Sequence[_Line], below: Sequence[_Line]) -> EditExample:
    if edit.old_text:
        return EditExample(before=edit.old_text, after=edit.new_text)
    first = above[-1].text if above else ""
    last = below[0].text if below else ""
    return EditExample(before=first + last, after=first + edit.new_text + last)


def _window(
    state: _State, text: FimTokenizer, draw: EditDraw, rng: random.Random, *, is_above: bool
) -> tuple[Sequence[_Line], list[int]]:
    """Return the lines in which places are looked for, and the ids of the whole window."""
    num_before, num_after = rng.randint(*draw.before_edit), rng.randint(*draw.after_edit)
    if is_above:
        shown = _take(reversed(state.above), num_after, text)[::-1]
        rest = _take(state.below, num_before, text)
        return shown, window_above(text, _join(shown), state.edit + _join(rest))
    prefix = _take(reversed(state.above), num_before, text)[::-1]
    shown = _take(state.below, num_after, text)
    return shown, window_below(text, _join(prefix) + state.edit + _join(shown))


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


def _is_within(hunk: Hunk, shown: Sequence[_Line]) -> bool:
    numbers = {line.number for line in shown}
    if hunk.start == hunk.end:
        return hunk.start in numbers
    return all(n in numbers for n in range(hunk.start, hunk.end))


def _around(hunk: Hunk, shown: Sequence[_Line], rng: random.Random) -> tuple[int, int]:
    """Return a range of indexes into ``shown`` that holds the hunk, and some lines around it."""
    index_of = {line.number: i for i, line in enumerate(shown)}
    start = index_of[hunk.start]
    end = start + max(1, hunk.end - hunk.start)
    start -= rng.choice((0, 1, 1, 2, 2, 3))
    end += rng.choice((0, 1, 2, 2, 3, 3))
    return max(0, start), min(len(shown), end)


def _rewritten(
    shown: Sequence[_Line], open_hunks: Sequence[Hunk], span: tuple[int, int]
) -> tuple[str, str]:
    """Return the lines of the span, and the same with every open hunk in it done.

    The span grows to hold hunks that it cuts.
    """
    start, end = span
    index_of = {line.number: i for i, line in enumerate(shown) if line.number is not None}
    for hunk in open_hunks:
        own = [index_of[n] for n in range(hunk.start, hunk.end) if n in index_of]
        if own and own[0] < end and own[-1] >= start:
            start, end = min(start, own[0]), max(end, own[-1] + 1)
    replaced = {n: hunk for hunk in open_hunks for n in range(hunk.start, hunk.end)}
    inserted = {hunk.start: hunk.new_text for hunk in open_hunks if hunk.start == hunk.end}
    region = shown[start:end]
    return _join(region), "".join(_done(line, replaced, inserted) for line in region)


def _done(line: _Line, replaced: Mapping[int, Hunk], inserted: Mapping[int, str]) -> str:
    """Return what is in the place of a line once all hunks are done."""
    if line.number is None:
        return line.text
    hunk = replaced.get(line.number)
    if hunk is None:
        return inserted.get(line.number, "") + line.text
    new = hunk.new_text if line.number == hunk.start else ""
    return inserted.get(line.number, "") + new


def _left_alone(shown: Sequence[_Line], state: _State, rng: random.Random) -> str | None:
    """Return lines that stay as they are, similar to the edit; None if there are too few."""
    changed = {n for h in state.open_hunks for n in range(h.start - 1, max(h.end, h.start + 1) + 1)}
    words = set(_WORD.findall(state.example.before + state.example.after))

    def similarity(lines: str) -> float:
        own = set(_WORD.findall(lines))
        return len(own & words) / max(1, len(own | words))

    tried = []
    for _ in range(_NUM_TRIED):
        start = rng.randrange(max(1, len(shown)))
        end = min(len(shown), start + rng.randint(2, 6))
        region = shown[start:end]
        if region and not any(line.number in changed for line in region):
            tried.append(_join(region))
    tried = [lines for lines in tried if lines.strip()]
    return max(tried, key=similarity, default=None)
