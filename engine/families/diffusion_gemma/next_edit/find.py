"""Finds the lines that an edit made unlikely, and refills them: DiffusionGemma's next edits.

A score is a one-step surprise: the lines are put into a canvas, a share of their words is hidden,
and one denoising step says how likely each was. The place is the line that lost most. It is
refilled between both sides, with the edit as an example at the beginning of the context: a hole
alone shows what the code is now, not what the edit did to it.

Tested on small trained and random checkpoints only: the released weights were not run.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from intarsia.engine.families.bounded_request import require_bounded_window
from intarsia.engine.families.diffusion_gemma.backbone.model import DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.canvas.layout import CanvasSizes
from intarsia.engine.families.diffusion_gemma.canvas.settings import DenoisingSettings
from intarsia.engine.families.diffusion_gemma.canvas.tokenizer import GemmaTokenizer
from intarsia.engine.families.diffusion_gemma.next_edit.context_reader import ContextReader
from intarsia.engine.families.diffusion_gemma.next_edit.drop import DropFinder, Drops, FallenWords
from intarsia.engine.families.diffusion_gemma.next_edit.refill import (
    OldLine,
    Refilled,
    Refiller,
    numbers_around,
)
from intarsia.engine.families.diffusion_gemma.next_edit.score import TextScorer
from intarsia.engine.families.diffusion_gemma.next_edit.surroundings import (
    Span,
    SurroundingsReader,
    Version,
)
from intarsia.engine.families.next_edit.code_lines import lines_of, with_newline
from intarsia.engine.families.next_edit.edited_lines import EditedLines, WindowLine, read_lines
from intarsia.engine.families.next_edit.example import example_text, only_adds
from intarsia.engine.families.next_edit.line_drop import MIN_DROP, LineDrop
from intarsia.engine.families.next_edit.ranking import best_first
from intarsia.engine.families.next_edit.region import (
    LineChange,
    RegionSize,
    places_to_correct,
    smallest_change,
)
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, NextEdit, NextEdits

_ONE_LINE = RegionSize(above=0, below=0)
_LINES_AFTER = 2  # that a gain counts too


@dataclass(frozen=True, kw_only=True, slots=True)
class _Round:
    """One request, with both versions of its window."""

    request: FindNextEdits
    example: EditExample
    lines: Sequence[WindowLine]
    before: Version
    after: Version
    control: FillControl

    def text_of(self, line: WindowLine) -> str:
        return self.after.text[line.start : line.end].decode()

    def lines_after(self, line: WindowLine) -> Sequence[WindowLine]:
        """Return the lines after one that a gain counts too, as far as nothing changed there."""
        found = [line]
        at = self.lines.index(line)
        for following in self.lines[at + 1 : at + 1 + _LINES_AFTER]:
            if not found[-1].is_followed_by(following):
                break
            found.append(following)
        return found[1:]


class NextEditFinder:
    """Finds next edits with one model; what it reads is held apart from the fills' context."""

    def __init__(
        self,
        backbone: DiffusionGemmaBackbone,
        text: GemmaTokenizer,
        settings: DenoisingSettings,
        *,
        max_tokens: int,
    ) -> None:
        self._text = text
        self._max_tokens = max_tokens  # of a window and an example
        self._sizes = CanvasSizes(canvas_length=backbone.canvas_length)
        self._contexts = ContextReader(backbone)
        self._surroundings = SurroundingsReader(self._contexts, text, self._sizes)
        vocab_size, device = backbone.vocab_size, backbone.device
        self._scorer = TextScorer(self._surroundings, text, vocab_size=vocab_size, device=device)
        self._drops = DropFinder(self._scorer, text)
        self._refiller = Refiller(settings, vocab_size=vocab_size, device=device)

    def find(self, request: FindNextEdits, control: FillControl) -> NextEdits:
        """Return the answer. Raises Cancelled between two passes, ValueError for a bad request."""
        started_at, contexts = time.monotonic(), self._contexts
        contexts.begin_round()
        require_bounded_window(request, max_tokens=self._max_tokens)
        edited = read_lines(request)
        self._require_length(request, edited)
        edits: list[NextEdit] = []
        drops = Drops(lines=(), fallen={})
        if request.example is None or edited.before == edited.after:
            contexts.read(self._text.context(edited.after.decode(), ""), control)
            num_prefilled, num_reused = contexts.num_computed, contexts.num_reused
        else:
            round_ = _round(request, request.example, edited, control)
            max_scored = self._surroundings.max_scored(round_.after)
            drops = self._drops.find(
                round_.lines, round_.before, round_.after, max_tokens=max_scored, control=control
            )
            lines = best_first(drops.lines, edited.after, request.example)
            drops = replace(drops, lines=lines)
            num_prefilled, num_reused = contexts.num_computed, contexts.num_reused
            edits = self._correct(round_, drops)
        return NextEdits(
            id=request.id,
            edits=tuple(edits),
            line=drops.lines[0].line.number if drops.lines else None,
            drop=drops.lines[0].drop if drops.lines else 0.0,
            num_prefilled=num_prefilled,
            num_reused=num_reused,
            ms=1000 * (time.monotonic() - started_at),
        )

    def _require_length(self, request: FindNextEdits, edited: EditedLines) -> None:
        if not request.parts:
            raise ValueError("`parts` is empty: send the text around the edit")
        known = [] if request.example is None else self._known(request.example)
        windows = (edited.before.decode(), edited.after.decode())
        far = "\n" if request.direction == "above" else ""  # with its introduction
        longest = max(len(self._text.context(window, far)) for window in windows)
        if longest + len(known) > self._max_tokens:
            raise ValueError(
                f"`parts` and `example` have {longest + len(known)} tokens, above the limit of "
                f"{self._max_tokens}: send less"
            )

    def _known(self, example: EditExample) -> list[int]:
        return self._text.encode(example_text(example) + "\n")

    def _correct(self, round_: _Round, drops: Drops) -> list[NextEdit]:
        """Return the corrections of the first places."""
        likely = [found for found in drops.lines if found.drop >= MIN_DROP]
        most = round_.request.max_places
        places = places_to_correct(likely, round_.lines, _ONE_LINE, most=most)
        edits = (
            self._correct_line(round_, found, drops.fallen[found.line.number])
            for found, _ in places
        )
        return [edit for edit in edits if edit is not None]

    def _correct_line(
        self, round_: _Round, found: LineDrop, fallen: FallenWords
    ) -> NextEdit | None:
        """Return the correction of a line; None if it stays as it is, or fits in no canvas."""
        place, old = found.line, round_.text_of(found.line)
        line = self._old_line(old, fallen, round_.example)
        if not line.lengths:
            return None
        span = Span(start=place.start, end=place.end)
        known = self._known(round_.example)
        around = self._surroundings.for_refill(round_.after, span, known, round_.control)
        written = self._refiller.rewrite(line, around, round_.control)
        change = self._change(old, written)
        gains = None if change is None else self._gains(round_, place, _applied(change, old))
        if change is None or gains is None:
            return None
        gain, gain_before = gains
        return NextEdit(
            first_line=place.number + change.first,
            num_lines=change.num_lines,
            text="".join(change.new_lines),
            drop=found.drop,
            gain=gain,
            gain_before=gain_before,
            log_p=written.log_p,
            is_agreed=gain > max(0.0, gain_before) and self._is_agreed(round_, place, written),
        )

    def _old_line(self, old: str, fallen: FallenWords, example: EditExample) -> OldLine:
        """Return a line with a gap where words fell; before it, if the edit only added lines."""
        tokens = self._text.tokenize(old)
        if only_adds(example):
            first = last = 0
            likely = [
                len(self._text.encode(example.after)) - len(self._text.encode(example.before))
            ]
        else:
            first, last = tokens.token_at(fallen.start), tokens.token_at(fallen.end - 1) + 1
            growth = len(self._text.encode(example.after)) - len(self._text.encode(example.before))
            likely = [last - first, last - first + growth]
        num_kept = first + len(tokens) - last
        return OldLine(
            head=tokens.ids[:first],
            tail=tokens.ids[last:],
            lengths=numbers_around(
                likely, least=0 if first else 1, most=self._max_refilled - num_kept
            ),
        )

    @property
    def _max_refilled(self) -> int:
        return self._sizes.canvas_length - self._sizes.max_suffix

    def _change(self, old: str, written: Refilled) -> LineChange | None:
        """Return what was changed; None if nothing was, or if the text does not go on after it."""
        if self._text.num_before_end(written.ids) < len(written.ids):
            return None
        new = "".join(self._text.pieces(written.ids, after=()))
        return smallest_change(_whole_lines(old), _whole_lines(new), place=0)

    def _gains(self, round_: _Round, place: WindowLine, new: str) -> tuple[float, float] | None:
        """Return the gain of new lines after the edit and before it."""
        spans = (
            (round_.after, Span(start=place.start, end=place.end)),
            (round_.before, Span(start=place.start_before, end=place.end_before)),
        )
        following = round_.lines_after(place)
        gain, gain_before = (
            self._scorer.gain(version, span, new, following, round_.control)
            for version, span in spans
        )
        return None if gain is None or gain_before is None else (gain, gain_before)

    def _is_agreed(self, round_: _Round, place: WindowLine, written: Refilled) -> bool:
        """Tell whether a fill of the changed words alone, without the example, is the same."""
        old, new = self._text.encode(round_.text_of(place)), list(written.ids)
        num_head = common_prefix_length(old, new)
        num_tail = common_prefix_length(old[num_head:][::-1], new[num_head:][::-1])
        num_changed = len(new) - num_head - num_tail
        if not num_changed:
            return False  # a fill has nothing to say about a deletion
        line = OldLine(
            head=new[:num_head],
            tail=new[len(new) - num_tail :],
            lengths=numbers_around(
                [num_changed], least=1, most=self._max_refilled - num_head - num_tail
            ),
        )
        span = Span(start=place.start, end=place.end)
        around = self._surroundings.for_refill(round_.after, span, (), round_.control)
        return list(self._refiller.fill(line, around, round_.control).ids) == new


def _round(
    request: FindNextEdits, example: EditExample, edited: EditedLines, control: FillControl
) -> _Round:
    edit_start = edited.edit_start if request.direction == "above" else None
    return _Round(
        request=request,
        example=example,
        lines=edited.lines,
        before=Version(text=edited.before, edit_start=edit_start),
        after=Version(text=edited.after, edit_start=edit_start),
        control=control,
    )


def _whole_lines(text: str) -> list[str]:
    return lines_of(with_newline(text))


def _applied(change: LineChange, old: str) -> str:
    """Return the lines that take the place of an old one."""
    lines = _whole_lines(old)
    lines[change.first : change.first + change.num_lines] = change.new_lines
    return "".join(lines)
